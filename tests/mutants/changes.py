# SPDX-License-Identifier: Apache-2.0
"""The changes that mutants make to a C++ file: found among its tokens, so that a file need not be compiled to be listed.

Relies on the sources being formatted: spaces stand around binary operators, and none around the brackets of templates.
"""
import collections
import re
from dataclasses import dataclass

from places import Names

TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<directive>^\#(?:[^\n\\]|\\.|\\\n)*)
      | (?P<string>(?:u8|[uUL])?"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)+')
      | (?P<number>\.?\d(?:[\w.']|[eEpP][+-])*)
      | (?P<word>\w+)
      | (?P<sign><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|<<|.)""",
    re.S | re.M | re.X,
)

SWAPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "+=": "-=", "-=": "+=",
           "&&": "||", "||": "&&"}
SWAPPED_WORDS = {"true": "false", "false": "true", "max": "min", "min": "max"}
# A statement that begins so declares something: without it nothing compiles.
DECLARING = {"auto", "const", "constexpr", "static", "thread_local", "using", "struct", "class", "enum", "typename", "template",
             "alignas", "namespace", "public", "private", "friend", "static_assert", "if", "for", "while", "do", "switch",
             "else", "try", "catch", "case", "default", "assert"}
JUMPS = {"return", "throw", "break", "continue"}


@dataclass(frozen=True)
class Change:
    begin: int  # in the text
    end: int
    instead: str
    line: int
    before: str  # the lines it is in, in one
    after: str
    function: str
    what: str  # in words and names

    def of(self, text):
        return text[: self.begin] + self.instead + text[self.end:]


@dataclass
class Token:
    kind: str
    text: str
    begin: int
    end: int


def tokens_of(text):
    all = []
    for m in TOKEN.finditer(text):
        if m.lastgroup not in ("blank", "directive"):
            all.append(Token(m.lastgroup, m.group(), m.start(), m.end()))
    return all


def partners(tokens):
    """Where each bracket's other one is."""
    open, other = [], {}
    for k, t in enumerate(tokens):
        if t.text in "([{" and t.kind == "sign":
            open.append(k)
        elif t.text in ")]}" and t.kind == "sign":
            begin = open.pop()
            other[begin], other[k] = k, begin
    return other


def is_body(tokens, k, other, inside):
    """Whether the brace at k begins statements: a function's, a lambda's or a nested block's."""
    begin = k - 1
    while begin >= 0 and tokens[begin].text not in (";", "{", "}"):
        begin = other[begin] - 1 if tokens[begin].text in (")", "]") else begin - 1
    words = {t.text for t in tokens[begin + 1: k]}
    before = tokens[k - 1].text
    if inside and before in (";", "{", "}", "else", "do", "try"):
        return True
    if before in (")", "]", "const", "noexcept", "mutable", "override", "try"):
        return True
    if words & {"namespace", "enum", "union", "struct", "class"}:
        return False
    # A lambda or function that names what it returns.
    arrow = k - 1
    while arrow > begin and (tokens[arrow].kind == "word" or tokens[arrow].text in ("::", "<", ">", "*", "&", ",")):
        arrow -= 1
    return tokens[arrow].text == "->" and tokens[arrow - 1].text in (")", "mutable")


def bodies(tokens, other):
    """For each token the depth of statements that it is in; 0 outside of functions."""
    depth, stack, all = 0, [], []
    for k, t in enumerate(tokens):
        all.append(depth)
        if t.text == "{" and t.kind == "sign":
            stack.append(is_body(tokens, k, other, depth > 0))
            depth += stack[-1]
        elif t.text == "}" and t.kind == "sign":
            depth -= stack.pop()
            all[-1] = depth
    return all


def declares(words):
    if words[0].text in DECLARING:
        return True
    # Type name: two names side by side, with at most qualifiers and brackets of templates between them.
    k, angles = 0, 0
    while k < len(words) and (words[k].kind == "word" or words[k].text in ("::", "<", ">", ",", "*", "&") or angles):
        angles += (words[k].text == "<") - (words[k].text == ">")
        named = k > 0 and words[k].kind == "word" and not angles
        if named and (words[k - 1].kind == "word" or words[k - 1].text in (">", "*", "&")):
            return words[0].text not in ("return", "throw", "delete", "goto", "co_return")
        k += 1
    return False


def statements(tokens, other, inside):
    """Statements that may go, as pairs of their first token and their semicolon."""
    begin = None
    k = 0
    while k < len(tokens):
        t = tokens[k]
        if not inside[k] or t.text in ("{", "}"):
            if t.text == "{" and k in other and inside[k] and not (k + 1 < len(inside) and inside[k + 1] > inside[k]):
                k = other[k] + 1  # not statements, but values
                continue
            begin = None
        elif t.text == ";":
            if begin is not None and k > begin:
                yield begin, k
            begin = None
        elif begin is None:
            begin = k
            if t.text in ("if", "for", "while", "switch", "catch"):
                k += 1
                while tokens[k].text != "(":
                    k += 1
                k, begin = other[k], None
                if tokens[k + 1].text == "[":
                    k = other[k + 1]  # [[likely]]
            elif t.text in ("else", "do", "try"):
                begin = None
                if tokens[k + 1].text == "[":
                    k = other[k + 1]
            elif t.text in ("case", "default"):
                while tokens[k].text != ":":
                    k += 1
                begin = None
        elif t.text in ("(", "["):
            # A lambda in it is looked into where it begins.
            k = other[k]
        k += 1


def inner_statements(tokens, other, inside):
    """The same, of lambdas in the arguments of statements too."""
    found = set(statements(tokens, other, inside))
    for k, t in enumerate(tokens):
        if t.text == "{" and k + 1 < len(tokens) and inside[k + 1] > inside[k] > 0:
            begin, end = k + 1, other[k]
            shifted = {a - begin: b - begin for a, b in other.items() if begin <= a < end}
            part = statements(tokens[begin:end], shifted, inside[begin:end])
            found |= {(a + begin, b + begin) for a, b in part}
    return sorted(found)


def conditions(tokens, other, inside):
    """Of ifs and whiles: from the first token to the bracket behind the last; without those that declare."""
    for k, t in enumerate(tokens):
        if t.text not in ("if", "while") or not inside[k] or tokens[k + 1].text != "(":
            continue
        begin, end = k + 2, other[k + 1]
        j = begin
        while j < end:
            if tokens[j].text in ("(", "[", "{"):
                j = other[j]
            elif tokens[j].text == ";":
                begin = j + 1
            j += 1
        words = tokens[begin:end]
        swapped_anyway = {"==", "!="} & {w.text for w in words} and not {"&&", "||"} & {w.text for w in words}
        if words and not (swapped_anyway or declares(words) or any(w.text == "=" for w in words)):
            yield begin, end


def at(kind, name):
    return f"{kind} at {name}" if name else kind


def removal(names, begin, end):
    first = names.tokens[begin].text
    if head := names.head(begin, end):
        return f"removes {first} {head}" if first in JUMPS else f"removes {head}"
    return at(f"removes {first if first in JUMPS else 'statement'}", names.first(begin, end) or names.nearest(begin, end))


def changes_of(text):
    tokens = tokens_of(text)
    other = partners(tokens)
    inside = bodies(tokens, other)
    names = Names(tokens, inside, other)
    found = []

    def change(first, last, instead, what):
        begin, end = tokens[first].begin, tokens[last].end if instead else tokens[last].begin
        line = text.rfind("\n", 0, begin) + 1
        shown = [text[line:begin] + part + text[end: text.find("\n", end)] for part in (text[begin:end], instead)]
        before, after = (re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", part)).strip() for part in shown)
        found.append(Change(begin, end, instead, text.count("\n", 0, begin) + 1, before, after, names.function[first], what))

    for begin, end in inner_statements(tokens, other, inside):
        words = tokens[begin:end]
        last_of_body = tokens[end + 1].text == "}" and words[0].text == "return" and tokens[begin - 1].text in (";", "{", "}")
        if not declares(words) and not last_of_body:
            change(begin, end, "", removal(names, begin, end))
    for begin, end in conditions(tokens, other, inside):
        whole = text[tokens[begin].begin: tokens[end].begin]
        change(begin, end - 1, f"!({whole})", f"negates {names.first(begin, end)}".strip())
    for k, t in enumerate(tokens):
        if not inside[k]:
            continue
        spaced = text[t.begin - 1] in " \n" and text[t.end: t.end + 1] in (" ", "\n")
        instead = None
        if t.kind == "sign" and t.text in SWAPPED and spaced:
            instead = SWAPPED[t.text]
        elif t.kind == "word" and t.text in ("true", "false"):
            instead = SWAPPED_WORDS[t.text]
        elif t.kind == "word" and t.text in SWAPPED_WORDS and tokens[k - 1].text == "::" and tokens[k + 1].text in "(<":
            instead = SWAPPED_WORDS[t.text]
        if instead:
            change(k, k, instead, at(f"{t.text} -> {instead}", names.nearest(k, k + 1)))
    return sorted(found, key=lambda c: (c.begin, c.end))


def names_of(changes):
    """What each of a file's changes is called. Those that would be called the same are numbered, with how many there are: where
    one more comes, all of them are called something else, and none is taken for another."""
    names = [f"{c.function}: {c.what}" for c in changes]
    number, seen = collections.Counter(names), collections.Counter()
    for name in names:
        seen[name] += 1
        yield name if number[name] == 1 else f"{name} ({seen[name]} of {number[name]})"
