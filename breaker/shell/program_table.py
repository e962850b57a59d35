"""The rows of `programs`, as data. Members are lists of options separated by blanks."""

from __future__ import annotations

ALL = "all"
FIRST = "first"
YES = "yes"
NO = "no"

_CURL_VALUED = """
--abstract-unix-socket --alt-svc --aws-sigv4 --cacert --capath -E --cert --cert-type --ciphers -K --config
--connect-timeout --connect-to -C --continue-at -b --cookie -c --cookie-jar --create-file-mode --crlfile --curves
-d --data --data-ascii --data-binary --data-raw --data-urlencode --delegation --dns-interface --dns-ipv4-addr
--dns-ipv6-addr --dns-servers --doh-url -D --dump-header --ech --egd-file --engine --etag-compare --etag-save
--expect100-timeout -F --form --form-string --ftp-account --ftp-alternative-to-user --ftp-method -P --ftp-port
--ftp-ssl-ccc-mode --happy-eyeballs-timeout-ms --haproxy-clientip -H --header -h --help --hostpubmd5 --hostpubsha256
--hsts --interface --ip-tos --ipfs-gateway --json --keepalive-cnt --keepalive-time --key --key-type --krb --libcurl
--limit-rate --local-port --login-options --mail-auth --mail-from --mail-rcpt --max-filesize --max-redirs
-m --max-time --netrc-file --noproxy --oauth2-bearer --output-dir --parallel-max --parallel-max-host --pass
--pinnedpubkey --preproxy --proto --proto-default --proto-redir -x --proxy --proxy-cacert --proxy-capath --proxy-cert
--proxy-cert-type --proxy-ciphers --proxy-crlfile --proxy-header --proxy-key --proxy-key-type --proxy-pass
--proxy-pinnedpubkey --proxy-service-name --proxy-tls13-ciphers --proxy-tlsauthtype --proxy-tlspassword
--proxy-tlsuser -U --proxy-user --proxy1.0 --pubkey -Q --quote --random-file -r --range --rate -e --referer
-X --request --request-target --resolve --retry --retry-delay --retry-max-time --sasl-authzid --service-name
--sigalgs --socks4 --socks4a --socks5 --socks5-gssapi-service --socks5-hostname -Y --speed-limit -y --speed-time
--stderr -t --telnet-option --tftp-blksize -z --time-cond --tls-max --tls13-ciphers --tlsauthtype --tlspassword
--tlsuser --trace --trace-ascii --trace-config --unix-socket -T --upload-file --url --url-query -u --user
-A --user-agent --variable --vlan-priority -w --write-out
"""
"""`curl --help all`, of 7.88 and 8.11."""

_WGET_VALUED = """
-e --execute -o --output-file -a --append-output --report-speed -i --input-file -B --base --config --rejected-log
-t --tries --retry-on-http-error --start-pos --progress -T --timeout --dns-timeout --connect-timeout
--read-timeout -w --wait --waitretry -Q --quota --bind-address --limit-rate --restrict-file-names --prefer-family
--user --password --use-askpass --local-encoding --remote-encoding -P --directory-prefix --cut-dirs --http-user
--http-password --default-page --header --compression --max-redirect --proxy-user --proxy-password --referer
-U --user-agent --load-cookies --save-cookies --post-data --post-file --method --body-data --body-file
--secure-protocol --certificate --certificate-type --private-key --private-key-type --ca-certificate --ca-directory
--crl-file --pinnedpubkey --ciphers --hsts-file --ftp-user --ftp-password --warc-file --warc-header
--warc-max-size --warc-dedup --warc-tempdir -l --level --backups -A --accept -R --reject --accept-regex
--reject-regex --regex-type -D --domains --exclude-domains --follow-tags --ignore-tags -I --include-directories
-X --exclude-directories
"""
"""`wget --help`, of 1.21."""

_GIT_TEXT = "-m --message --author --date --format --pretty --grep -S -G -L --trailer"
_GH_TEXT = """
-b --body -t --title -n --notes -m --message --subject -d --description --homepage -f --raw-field --field -F
--body-file --notes-file -q --jq --template -H --header -c --comment -l --label -a --assignee -r --reviewer
-p --project --milestone
"""
_PIP_VOLATILE = """
-q --quiet -v --verbose --no-color --disable-pip-version-check --progress-bar --retries --timeout
--default-timeout --no-input
"""
_NPM_VOLATILE = """
-s --silent --loglevel -d -dd -ddd --no-fund --fund=false --no-audit --audit=false --no-progress --progress=false
--color* --no-color
"""
_COMPILER = {
    "valued": "-I -L -D -U -include -isystem -x -T -Xlinker -framework -arch -target -MF -MT -MQ",
    "output": "-o",
}
_OUT = {"output": "-o --output"}
_TEXT = {"text_operands": ALL}

TABLE: dict[str, dict[str, str]] = {
    # ---- clients
    "curl": {
        "valued": _CURL_VALUED,
        "volatile": """
            -s -S -f -L -k -m -A -# -v -N -4 -6 -0 -y -Y --silent --show-error --fail --fail-with-body --fail-early
            --location --insecure --max-time --connect-timeout --retry* --speed-* --max-redirs --user-agent --compressed
            --no-progress-meter --progress-bar --progress-meter --verbose --no-buffer --keepalive* --no-keepalive
            --limit-rate --rate --http1.0 --http1.1 --http2 --http2-prior-knowledge --http3 --ipv4 --ipv6
            --no-silent --no-verbose --no-location --styled-output --no-styled-output --expect100-timeout
            --happy-eyeballs-timeout-ms
        """,
        "output": "-o --output",
    },
    "wget": {
        "valued": _WGET_VALUED,
        "volatile": """
            -q -v -d -T -t -w -U -c -b -4 -6 -o -a --no-verbose -nv --quiet --verbose --debug --timeout --dns-timeout
            --connect-timeout --read-timeout --tries --wait* --random-wait --user-agent --continue --background
            --inet4-only --inet6-only --progress --show-progress --no-check-certificate --retry-* --output-file
            --append-output --limit-rate --no-hsts --report-speed --prefer-family --no-dns-cache
        """,
        "output": "-O --output-document",
        "whole": "-nc -nd -nH -np",
    },
    "http": {
        "valued": """
            --style -s --pretty --format-options -p --print --session --session-read-only -a --auth -A --auth-type
            --proxy --max-redirects --max-headers --timeout --verify --ssl --ciphers --cert --cert-key --cert-key-pass
            --default-scheme --bearer --raw --boundary --response-charset --response-mime --compress-level
        """,
        "volatile": """
            --timeout --verify --follow -F --max-redirects -v -h -b -p --print --pretty -s --style -q --quiet
            --check-status --ignore-stdin -I --verbose --headers --body --all --stream -S --no-stream --format-options
            --unsorted --sorted
        """,
        "output": "-o --output",
    },
    # ---- version control
    "git": {
        "subcommands": YES,
        "valued": "-c --git-dir --work-tree --namespace --super-prefix --config-env",
        "chdir": "-C",
        "volatile": "--no-pager -P -p --paginate --no-optional-locks --no-color --color*",
    },
    "git *": {"text": _GIT_TEXT, "text_operands": ALL},
    "git commit": {
        "text": "-m --message --author --date --trailer -F --file",
        "valued": "-C -c -t --template --fixup --squash --cleanup --pathspec-from-file",
        "text_operands": ALL,
    },
    "git clone": {
        "valued": """
            -b --branch -o --origin -u --upload-pack --reference --reference-if-able --template --depth --shallow-since
            --shallow-exclude -j --jobs --filter --separate-git-dir --server-option --bundle-uri
        """,
        "text": "-c --config",
    },
    "git fetch": {
        "valued": """
            --depth --deepen --shallow-since --shallow-exclude --refmap -o --server-option --filter
            --upload-pack -j
        """,
    },
    "git pull": {"valued": "--depth --deepen -s --strategy -X --strategy-option --shallow-since -j --upload-pack"},
    "git push": {"valued": "-o --push-option --receive-pack --exec --repo"},
    "git ls-remote": {"valued": "--upload-pack -o --server-option --sort"},
    "git submodule": {"subcommands": YES},
    "git submodule *": {"text_operands": ALL},
    "git submodule add": {"valued": "-b --branch --name --depth --reference"},
    "git remote": {"text_operands": ALL},
    "git archive": {"output": "-o --output", "valued": "--format --prefix --remote --exec --add-file"},
    "git format-patch": {"output": "-o --output-directory --output", "text_operands": ALL},
    "git bundle": {"subcommands": YES},
    "git bundle *": {"text_operands": ALL},
    "git bundle create": {"output_operands": FIRST, "text_operands": ALL},
    "git diff": {"output": "--output", "text": _GIT_TEXT, "text_operands": ALL},
    "git log": {"output": "--output", "text": _GIT_TEXT, "text_operands": ALL},
    "git show": {"output": "--output", "text": _GIT_TEXT, "text_operands": ALL},
    "gh": {"subcommands": YES, "valued": "-R --repo"},
    "gh *": {"text": _GH_TEXT},
    "gh pr": {"subcommands": YES},
    "gh pr merge": {"text": "-b --body -F --body-file -t --subject -A --author-email --match-head-commit"},
    "gh release": {"subcommands": YES},
    "gh release download": {"output": "-O --output", "valued": "-p --pattern -D --dir -A --archive -R --repo"},
    "gh api": {
        "text": "-f --raw-field --field -F -q --jq -t --template -H --header -p --preview",
        "valued": "-X --method --input --cache --hostname",
    },
    "glab": {"subcommands": YES, "valued": "-R --repo"},
    "glab *": {"text": _GH_TEXT},
    # ---- searching and text
    "grep": {
        "valued": """
            -A -B -C -m -D -d --after-context --before-context --context --max-count --include --exclude --exclude-dir
            --exclude-from --binary-files --devices --directories --label
        """,
        "volatile": "--color* --colour* --no-color",
        "pattern": "-e --regexp -f --file",
        "text_operands": FIRST,
    },
    "rg": {
        "valued": """
            -A -B -C -m -g -t -T -j -M -E -r --after-context --before-context --context --max-count --glob --iglob
            --type --type-not --threads --max-columns --encoding --replace --max-depth -d --max-filesize --sort --sortr
            --pre --type-add --type-clear --ignore-file --path-separator --engine --field-match-separator
            --field-context-separator --context-separator --color --colors
        """,
        "volatile": "--color* --colors --no-heading --heading",
        "pattern": "-e --regexp -f --file",
        "text_operands": FIRST,
    },
    "ag": {"volatile": "--color* --nocolor", "text_operands": FIRST, "valued": "-A -B -C -m -G --ignore --depth -p"},
    "ack": {"volatile": "--color* --nocolor", "text_operands": FIRST, "valued": "-A -B -C -m -g --type --ignore-dir"},
    "sed": {"pattern": "-e --expression -f --file", "text_operands": FIRST, "valued": "-l --line-length"},
    "awk": {"text": "-v -F --assign --field-separator", "pattern": "-f --file -e --source", "text_operands": FIRST},
    "jq": {
        "text": "--arg --argjson",
        "pattern": "-f --from-file",
        "valued": "--indent --tab",
        "text_operands": FIRST,
    },
    "yq": {"pattern": "--from-file", "text_operands": FIRST},
    "perl": {"text": "-e -E"},
    # ---- text that goes nowhere
    "echo": {**_TEXT, "clusters": NO},
    "printf": _TEXT,
    "apply_patch": _TEXT,
    "bd": _TEXT,
    "linear": _TEXT,
    "jira": _TEXT,
    "export": _TEXT,
    "test": {**_TEXT, "clusters": NO},
    "expr": _TEXT,
    "for": _TEXT,
    "read": _TEXT,
    "notify-send": _TEXT,
    "logger": _TEXT,
    "basename": _TEXT,
    # ---- outputs
    "tee": {"output_operands": ALL},
    "sort": {
        **_OUT,
        "valued": "-k --key -t --field-separator -S --buffer-size -T --temporary-directory --parallel --sort",
    },
    "shuf": {**_OUT, "valued": "-i --input-range -n --head-count --random-source"},
    "iconv": {**_OUT, "valued": "-f --from-code -t --to-code"},
    "pandoc": {
        **_OUT,
        "valued": """
            -f --from -r --read -t --to -w --write -M --metadata -V --variable --template -H -B -A
            -c --css --highlight-style
        """,
    },
    "dot": {"output": "-o", "valued": "-K -G -N -E"},
    "gpg": {**_OUT, "valued": "-r --recipient -u --local-user --homedir --passphrase --passphrase-file --keyserver"},
    "openssl": {
        "output": "-out -o",
        "clusters": NO,
        "valued": "-in -inkey -key -subj -days -keyout -config -CAfile -pass -passin -passout -k -K -iv",
    },
    "yt-dlp": {
        **_OUT,
        "valued": "-f --format -P --paths --cookies --playlist-items -S",
        "text": "--proxy --referer --user-agent --add-header",
    },
    "esbuild": {"output": "--outfile -o --output", "clusters": NO},
    "nasm": {"output": "-o", "valued": "-f -l -i -I -p -P -d -D"},
    "bison": {"output": "-o --output"},
    "flex": {"output": "-o --outfile"},
    "strip": {"output": "-o"},
    "gs": {"output": "-o", "clusters": NO, "glued": "-o"},
    "swiftc": {"output": "-o", "clusters": NO},
    "ghc": {"output": "-o", "clusters": NO},
    "zig": {"output": "-o", "clusters": NO},
    "gcc": {**_COMPILER, "clusters": NO, "glued": "-o"},
    "nvcc": {**_COMPILER, "clusters": NO, "glued": "-o"},
    "rustc": {
        "output": "-o",
        "valued": "--crate-type --crate-name --edition --emit --out-dir -C -L -l --cfg --target -A -W -D",
    },
    "go": {"subcommands": YES, "clusters": NO, "chdir": "-C"},
    "go *": {"clusters": NO},
    "go build": {
        "clusters": NO,
        "output": "-o",
        "chdir": "-C",
        "valued": "-ldflags -tags -gcflags -mod -p -asmflags -overlay -buildmode",
    },
    "go test": {
        "clusters": NO,
        "output": "-o -coverprofile -cpuprofile -memprofile",
        "chdir": "-C",
        "valued": """
            -run -bench -count -timeout -tags -ldflags -parallel -cpu -p -mod -covermode -coverpkg
            -benchtime -skip
        """,
    },
    "cargo": {"volatile": "--color* -q --quiet", "valued": "--color"},
    # ---- packages
    "pip": {
        "volatile": _PIP_VOLATILE,
        "valued": """
            -r --requirement -c --constraint -e --editable -t --target -d --dest --prefix --root --python --platform
            --python-version --implementation --abi --progress-bar --retries --timeout --default-timeout --log
            --index-url -i --extra-index-url --find-links -f --cache-dir --cert --client-cert --src -w --wheel-dir
            --only-binary --no-binary --format --report --exists-action --upgrade-strategy
        """,
        "text": "--proxy --trusted-host --global-option --config-settings",
    },
    "uv": {
        "subcommands": YES,
        "volatile": "-q --quiet -v --verbose --no-progress --color* --no-color",
        "valued": "--color --directory --project --config-file --cache-dir",
    },
    "uv *": {
        "volatile": "-q --quiet -v --verbose --no-progress --color* --no-color",
        "valued": "--color -p --python -r --requirement -e --editable --index-url -i --extra-index-url --index",
    },
    "uv run": {},
    "uv tool": {},
    "npm": {
        "volatile": _NPM_VOLATILE,
        "valued": "--loglevel --prefix -w --workspace --registry --tag --otp --cache --userconfig -C",
    },
    "pnpm": {
        "subcommands": YES,
        "volatile": _NPM_VOLATILE,
        "valued": "--loglevel -C --dir --filter -F --registry --reporter",
    },
    "pnpm *": {},
    "pnpm install": {"volatile": _NPM_VOLATILE, "valued": "--loglevel --filter -F --registry --reporter"},
    "yarn": {"subcommands": YES, "volatile": _NPM_VOLATILE, "valued": "--loglevel --cwd --registry"},
    "yarn *": {},
    "yarn install": {"volatile": _NPM_VOLATILE, "valued": "--loglevel --registry"},
    "bun": {"subcommands": YES, "volatile": "--silent", "valued": "--cwd --filter -F --env-file"},
    "bun *": {},
    "bun install": {"volatile": "--silent --no-progress --no-summary -s", "valued": "--registry --filter --cwd"},
    "apt": {
        "volatile": "-y -q --yes --assume-yes --quiet -qq",
        "valued": "-o --option -c --config-file -t --target-release",
    },
    # ---- listings
    "ls": {"volatile": "--color*"},
    "tree": {"volatile": "--color* -C -n", "valued": "-L -P -I --filelimit --charset", "output": "-o"},
    "diff": {
        "volatile": "--color* --no-color",
        "valued": "-U -C -I -x -X -F --label -W --unified --context --exclude",
    },
    "pytest": {
        "volatile": "--color --no-header -p=no:cacheprovider",
        "output": "--junitxml --junit-xml",
        "valued": """
            --color -p -k -m -n -c -o -r -W --tb --maxfail --cov --cov-report --ignore --deselect --rootdir
            --durations --timeout --basetemp --log-level --log-cli-level --override-ini --import-mode --confcutdir
        """,
    },
    # ---- containers
    "docker": {"subcommands": YES, "valued": "-H --host -l --log-level --context --config -c"},
    "docker build": {
        "volatile": "--progress",
        "valued": """
            --progress -t --tag -f --file --build-arg --target --platform --network --label -o
            --output --cache-from --secret
        """,
    },
    "docker buildx": {"subcommands": YES},
    "docker run": {"text_operands": ALL},
    "docker exec": {"text_operands": ALL},
    "docker compose": {
        "subcommands": YES,
        "volatile": "--ansi --progress",
        "valued": "--ansi --progress -f --file -p --project-name --profile --env-file --project-directory --parallel",
    },
    "docker compose build": {
        "volatile": "--progress",
        "valued": "--progress --build-arg -m --memory --ssh",
    },
    "docker compose run": {"text_operands": ALL},
    "docker compose exec": {"text_operands": ALL},
    "kubectl": {"subcommands": YES, "valued": "-n --namespace --context --kubeconfig -s --server"},
    "kubectl *": {"valued": "-n --namespace -f --filename -l --selector -o --output -c --container"},
    "kubectl exec": {"text_operands": ALL},
    "ssh": {
        "text_operands": ALL,
        "valued": "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w",
    },
    "tmux": {"subcommands": YES, "valued": "-c -f -L -S -T"},
    "tmux *": {"text_operands": ALL},
    # ---- other programs whose -o or operands need a word
    "dd": _TEXT,
    "find": {**_TEXT, "clusters": NO},
    "fd": _TEXT,
    # ---- PowerShell, lower case
    "invoke-webrequest": {
        "clusters": NO,
        "output": "-outfile",
        "valued": """
            -uri -method -custommethod -infile -timeoutsec -maximumretrycount -retryintervalsec -maximumredirection
            -websession -sessionvariable -credential -authentication -token -certificate
        """,
        "text": "-body -form -headers -useragent -proxy -contenttype",
        "volatile": """
            -usebasicparsing -timeoutsec -maximumretrycount -retryintervalsec -maximumredirection -useragent
            -skipcertificatecheck -verbose
        """,
    },
    "out-file": {"clusters": NO, "output": "-filepath", "valued": "-encoding", "output_operands": FIRST},
    "set-content": {
        "clusters": NO,
        "output": "-path",
        "text": "-value",
        "output_operands": FIRST,
        "text_operands": ALL,
    },
    "write-output": _TEXT,
}  # fmt: skip
"""Rows by the name of the program."""

ALIASES = {
    alias.strip(): name
    for name, aliases in {
        "http": "https, xh, xhs, httpie",
        "grep": "egrep, fgrep, zgrep, ugrep, pcregrep",
        "sed": "gsed",
        "awk": "gawk, mawk, nawk",
        "jq": "gojq",
        "echo": "true, false, :",
        "test": "[, [[, ((",
        "for": "case, select",
        "export": "declare, local, readonly, typeset, alias, set, unset, setenv, return, exit, type, which, whereis"
        ", trap",
        "basename": "dirname",
        "fd": "fdfind",
        "gcc": "cc, c++, g++, clang, clang++, ld, ld.lld, ld.gold, ld.bfd, as, gfortran, emcc, em++, tcc, icc, mpicc"
        ", mpicxx",
        "strip": "objcopy",
        "flex": "lex",
        "gpg": "gpg2",
        "yt-dlp": "youtube-dl",
        "dot": "neato",
        "pip": "pip3, pipx",
        "apt": "apt-get, aptitude",
        "docker": "podman, nerdctl",
        "docker compose": "docker-compose, podman-compose",
        "kubectl": "oc",
        "ls": "eza, exa, dir, vdir",
        "diff": "colordiff",
        "pytest": "py.test",
        "pnpm install": "pnpm i, pnpm add, pnpm ci, pnpm update",
        "yarn install": "yarn add, yarn upgrade",
        "bun install": "bun i, bun add, bun update",
        "go build": "go install",
        "go *": "go vet",
        "docker build": "docker buildx build",
        "docker *": "docker container",
        "invoke-webrequest": "iwr, irm, invoke-restmethod",
        "out-file": "tee-object",
        "set-content": "add-content",
        "write-output": "write-host, select-string",
    }.items()
    for alias in aliases.split(",")
}
"""Names that have the row of another program or sub-command."""
