# Puts toolbreaker in front of commands of a shell. Source this file, then write `guarded` before a command:
#
#   . guarded.bash
#   guarded curl -s https://example.com/items
#
# The command runs, runs with a warning on stderr, or is refused with the status 125. `guarded_turn` starts the
# counts afresh. Whatever goes wrong on this side, toolbreaker missing included, the command runs.
#
# TOOLBREAKER  the program (default: toolbreaker)    GUARDED_TIMEOUT  seconds a call may take (default: 0.25)
# GUARDED_AGENT  whose calls these are (default: one agent a shell)
#
# Plain bash, 4.2 or newer. The server is a coprocess that starts when this file is read, because the subshells of
# `x=$(guarded a)` and `guarded a | b` could not hand one to their parent. They do not get a coprocess's own pipes
# either, so those are duplicated. One token in a pipe keeps callers apart that run at the same time.

# shellcheck disable=SC2128 # plain sh, which shall get this far, cannot read the spelling of a list's member
if [ -z "${BASH_VERSION-}" ]; then
  echo 'guarded: this shell is not bash (4.2 or newer), which guarded.bash needs; commands run unguarded' >&2
  guarded() { "$@"; }
  guarded_turn() { :; }
  return
elif [ "$BASH_SOURCE" = "$0" ]; then
  echo 'Source this file: . guarded.bash' >&2
  exit 2
fi

guarded() {
  if (($# == 0)); then
    echo 'usage: guarded COMMAND [ARGUMENT …]' >&2
    return 2
  fi
  if ! _guarded_ready; then
    "$@"
    return
  fi
  local agent=${GUARDED_AGENT:-shell-$$} words='' word can_ask=false call decision outcome answer status=0 _guarded_reply
  for word in "$@"; do
    _guarded_quote "$word"
    words+=${words:+,}$REPLY
  done
  _guarded_quote "$agent"
  call="\"agent\":$REPLY,\"callId\":\"$BASHPID-$((++_guarded_calls))\""
  _guarded_quote "$PWD"
  [[ -t 0 && -t 2 ]] && can_ask=true

  decision=allow
  if _guarded_ask guard "{$call,\"tool\":\"bash\",\"arguments\":{\"command\":[$words],\"cwd\":$REPLY},\"canAsk\":$can_ask}"; then
    decision=$(_guarded_decision)
  fi
  if [[ $decision == ask ]]; then
    _guarded_texts reason >&2
    outcome=rejected
    read -r -p 'Run it? [y/N] ' answer && [[ $answer == [yY]* ]] && outcome=approved
    # The operator's word stands, even if the server does not hear it.
    decision=deny
    [[ $outcome == approved ]] && decision=allow
    if _guarded_ask approval "{$call,\"outcome\":\"$outcome\"}"; then
      decision=$(_guarded_decision)
    fi
  fi
  if [[ $decision == deny ]]; then
    _guarded_texts reason >&2
    _guarded_ask postExecute "{$call,\"result\":{\"isError\":true}}" || :
    return 125
  fi

  # Bash closes the server's pipes in what it starts; a process left in the background does not hold them.
  "$@" || status=$?
  if _guarded_ask postExecute "{$call,\"result\":{\"isError\":false,\"value\":$(_guarded_value $status)}}"; then
    _guarded_texts text >&2
  fi
  return $status
}

# A person takes over: forget what was repeated.
guarded_turn() {
  local _guarded_reply
  _guarded_ready || return 0
  _guarded_quote "${GUARDED_AGENT:-shell-$$}"
  _guarded_ask userTurn "{\"agent\":$REPLY}" || :
}

# How a command ended. 130 is Ctrl-C: the person's doing, not a failure.
_guarded_value() {
  case $1 in
    130) echo '{"kind":"foreground","aborted":true}' ;;
    *) echo "{\"kind\":\"foreground\",\"exitCode\":$1}" ;;
  esac
}

# Whether there is a server. One that ended is started again, three times a shell.
_guarded_ready() {
  [[ -n $_guarded_pid ]] && kill -0 "$_guarded_pid" 2>/dev/null && return 0
  ((BASHPID == $$ && _guarded_starts < 3)) && _guarded_start
}

_guarded_start() {
  local program=${TOOLBREAKER:-toolbreaker} fifo from to
  ((++_guarded_starts))
  _guarded_pid=''
  if ! command -v "$program" >/dev/null; then
    _guarded_say "$program not found"
    return 1
  fi
  fifo=$(mktemp -u) && mkfifo -m 600 "$fifo" && exec {_guarded_lock}<>"$fifo" && rm -f "$fifo" || return 1
  echo >&"$_guarded_lock"
  # Nothing here sees what a command prints, so the profile that counts is the fitting one.
  # The group hides what bash itself says of coprocesses, not what the server says.
  { coproc _GUARDED { TOOLBREAKER_PROFILE=${TOOLBREAKER_PROFILE:-standard} exec "$program" serve 2>&"$_guarded_err"; }; } {_guarded_err}>&2 2>/dev/null
  from=${_GUARDED[0]:-} to=${_GUARDED[1]:-}
  [[ -n $from && -n $to ]] || return 1
  exec {_guarded_out}<&"$from" {_guarded_in}>&"$to" {_guarded_err}>&-
  eval "exec $from<&- $to>&-"
  _guarded_pid=$_GUARDED_PID
  _guarded_started=$SECONDS
}

_guarded_say() {
  [[ -n $_guarded_said ]] || echo "guarded: $1; commands run unguarded" >&2
  _guarded_said=yes
}

# _guarded_ask METHOD PARAMS: the reply is left in _guarded_reply. Fails when there is none in time, or an error.
_guarded_ask() {
  local id="$BASHPID-$RANDOM-$((++_guarded_calls))" limit=${GUARDED_TIMEOUT:-0.25} token answered=1
  # A server that was just started gets ten seconds for its first words.
  ((SECONDS - _guarded_started < 10)) && limit=10
  if read -r -t "$limit" -u "$_guarded_lock" token; then
    # A server that is gone must not take this shell with it, by SIGPIPE.
    if (trap '' PIPE; printf '%s\n' "{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"method\":\"$1\",\"params\":$2}" >&"$_guarded_in"); then
      # Replies to calls that were given up come first.
      while read -r -t "$limit" -u "$_guarded_out" _guarded_reply; do
        if [[ $_guarded_reply == *"\"id\":\"$id\""* ]]; then
          [[ $_guarded_reply == *'"result":'* ]] && answered=0
          break
        fi
      done
    fi
    echo >&"$_guarded_lock"
  fi 2>/dev/null
  ((answered == 0)) || _guarded_say "no answer to $1"
  return $answered
}

_guarded_decision() {
  if [[ $_guarded_reply =~ \"decision\":\"(allow|deny|ask)\" ]]; then
    echo "${BASH_REMATCH[1]}"
  else
    echo allow
  fi
}

# Every string member of that name, unescaped, a line each. Inside of a JSON string the quotes around such a name
# would be escaped, so what looks like a member is one.
_guarded_texts() {
  local rest=$_guarded_reply text piece
  while [[ $rest == *"\"$1\":\""* ]]; do
    rest=${rest#*"\"$1\":\""}
    text=''
    # A quote that an odd number of backslashes stands before is part of the string.
    while piece=${rest%%\"*} rest=${rest#*\"}; [[ $piece =~ \\+$ ]] && ((${#BASH_REMATCH[0]} % 2)); do
      text+="${piece%\\}\""
    done
    printf '%b\n' "$text$piece"
  done
}

# Any text as a JSON string, in REPLY.
_guarded_quote() {
  local LC_ALL=C text=$1 char code
  text=${text//\\/\\\\}
  text=${text//\"/\\\"}
  text=${text//$'\n'/\\n}
  text=${text//$'\t'/\\t}
  text=${text//$'\r'/\\r}
  while [[ $text =~ [$'\x01'-$'\x1f'] ]]; do
    char=${BASH_REMATCH[0]}
    printf -v code '\\u%04x' "'$char"
    text=${text//"$char"/$code}
  done
  # Bytes that are no UTF-8 cannot be said in JSON.
  if [[ $text == *[$'\x80'-$'\xff']* ]] && ! printf '%s' "$text" | iconv -f UTF-8 -t UTF-8 >/dev/null 2>&1; then
    text=${text//[$'\x80'-$'\xff']/?}
  fi
  REPLY="\"$text\""
}

_guarded_pid='' _guarded_in='' _guarded_out='' _guarded_lock='' _guarded_said=''
_guarded_starts=0 _guarded_started=0 _guarded_calls=0
_guarded_start || :
