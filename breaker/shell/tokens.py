"""The lexical part of the shell's grammar: patterns and reserved words, each read from one position."""

from __future__ import annotations

import re

_DELIMITER = r"(?=[ \t\n;|&<>()]|\Z)"
_PLAIN_WORD = r"""[^\s'"\\$`*?\[\]{}~!\#|&;<>()][^\s'"\\$`*?\[\]{}!|&;<>()]*+"""

TOKEN = re.compile(
    rf"""(?:[ \t]|\\\n)*+(?:
      (?!\d++[<>])({_PLAIN_WORD}){_DELIMITER}(?:(?<![@+])|(?!\())   # 1 word without quotes and expansions
      |'([^']*+)'{_DELIMITER}                                                         # 2 '…'
      |"([^"\\$`]*+)"{_DELIMITER}                                                     # 3 "…" without expansions
      |(\n|;;&|;;|;&|;|&&|&(?!>)|\|\||\|&|\||\(|\))                                   # 4 operator
      |(\d++|\{{[A-Za-z_]\w*+\}})?+(<<<|<<-|<<|<>|<&|<(?!\()|>>|>\||>&|>(?!\()|&>>|&>)  # 5 fd, 6 redirection
      |(\#[^\n]*+)                                                                    # 7 comment
      |([{{}}!]|\[\[|\]\]){_DELIMITER}                                                # 8 reserved sign
      |(\Z)                                                                           # 9 end
      |)""",
    re.VERBOSE,
)
"""What comes next behind blanks. It always matches; no group does where a word begins that has to be taken apart."""
PLAIN, SINGLE, DOUBLE, OPERATOR, REDIRECT, COMMENT, SIGN, END = 1, 2, 3, 4, 6, 7, 8, 9

PIECE = re.compile(
    r"""([?*+@!]\()                      # 1 extended pattern
      |(?!~)((?:[^\s'"\\$`*?\[\]{}|&;<>()+@!]++|[+@!](?!\()|[^\S \t\n])++)  # 2 literal run
      |'([^']*+)('?)                     # 3 4 single quotes
      |\\([\s\S]?)                       # 5 escape
      |\$?(")                            # 6 double quotes
      |\$'((?:[^'\\]|\\[\s\S])*+)('?)    # 7 8 ANSI-C quotes
      |([$`])                            # 9 expansion
      |([*?\[\]{}~])                     # 10 glob, brace, tilde
      |([<>]\()                          # 11 process substitution
    """,
    re.VERBOSE,
)
"""One piece of a word."""
PATTERN, RUN, QUOTED, ESCAPE, DOUBLE_QUOTES, ANSI, EXPANSION, ACTIVE, PROCESS = 1, 2, 4, 5, 6, 8, 9, 10, 11

QUOTED_RUN = re.compile(r'[^"\\$`]++')
NAME = re.compile(r"\$([A-Za-z_]\w*+|[0-9@*#?$!-])", re.ASCII)
PARAMETER = re.compile(
    r"\$\{(?:[#!](?=[\w@*?$!#-]))?+(?:[A-Za-z_]\w*+|[0-9]++|[@*#?$!-])?+(?:\[[^\]}$`'\"]*+\])?+([#%/]?)", re.ASCII
)
PARAMETER_RUN = re.compile(r"[^}'\"\\$`]++")
BACKTICKS = re.compile(r"`((?:[^`\\]|\\[\s\S])*+)`")
BACKTICK_ESCAPE = re.compile(r"\\([\\`$])")
QUOTED_BACKTICK_ESCAPE = re.compile(r'\\([\\`$"])')
TEXT_EXPANSION = re.compile(r"\\[\s\S]|\$\(|\$\{|`")
BALANCE = re.compile(r"""[()]|\\[\s\S]|'[^']*+'|"(?:[^"\\]|\\[\s\S])*+\"""")
REGEX_SIGNS = frozenset("()|<>")

BLANKS = re.compile(r"(?:[ \t]|\\\n)*+")
GLUED = re.compile(r"[^\s;|&<>]++")
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*+(?:\[(?:[^\[\]\n]|\[[^\[\]\n]*+\])*+\])?+\+?)=", re.ASCII)
FUNCTION_PARENTHESES = re.compile(r"[ \t]*+\)")
FUNCTION = re.compile(r"[ \t]++([^\s(){}|&;<>]++)(?:[ \t]*+\([ \t]*+\))?+")
BEFORE_COMPOUND = re.compile(r"(?:[ \t]++-p)?+[ \t]++(?=[({!]|(?:if|for|while|until|case|select)[ \t\n])")

OPENERS = {"if": "fi", "while": "done", "until": "done", "{": "}", "!": ""}
"""Words that may precede a command, and the word that closes what they open."""
CLOSERS = frozenset({"fi", "done", "esac", "}", ")"})
CONTINUES = {"then": "fi", "else": "fi", "elif": "fi", "do": "done"}
"""Words between the parts of what is open, and the word that closes it."""
RESERVED = CLOSERS | CONTINUES.keys() | OPENERS.keys() | {"[[", "case", "for", "select", "function", "time", "coproc"}


def skip_blanks(text: str, pos: int) -> int:
    found = BLANKS.match(text, pos)
    assert found is not None
    return found.end()
