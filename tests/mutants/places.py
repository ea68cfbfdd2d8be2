# SPDX-License-Identifier: Apache-2.0
"""What a place in a C++ file is called: by names that outlive another layout, moved lines and renamed locals."""
import re

# Words in front of a name that do not make it one that is declared here.
NO_TYPES = {"return", "throw", "new", "delete", "case", "else", "goto", "operator"}
KEYWORDS = NO_TYPES | {"alignas", "alignof", "auto", "bool", "break", "catch", "char", "class", "const", "const_cast",
                       "constexpr", "continue", "decltype", "default", "do", "double", "enum", "false", "float", "for", "if",
                       "int", "long", "mutable", "noexcept", "nullptr", "reinterpret_cast", "requires", "short", "signed",
                       "sizeof", "static", "static_cast", "std", "struct", "switch", "template", "this", "true", "try",
                       "typename", "unsigned", "using", "void", "while"}
ASSIGNING = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}


def is_name(token):
    return token.kind == "word" and token.text not in KEYWORDS


def outside_brackets(tokens):
    """The places that are in no brackets, neither round ones nor those of templates; an opening one is the last outside."""
    open = []
    for k, t in enumerate(tokens):
        if t.text in (")", "]", "}") or (t.text == ">" and open and open[-1] == "<"):
            if open:
                open.pop()
            continue
        if not open:
            yield k
        of_template = t.text == "<" and k > 0 and (tokens[k - 1].text == "template" or tokens[k - 1].end == t.begin)
        if t.text in ("(", "[", "{") or of_template:
            open.append(t.text)


def class_of(header):
    """Of what the brace behind these tokens opens: None where it is no class."""
    places = [k for k in outside_brackets(header)]
    begin = [k for k in places if header[k].text in ("struct", "class", "union")]
    if not begin or any(header[k].text == "enum" for k in places):
        return None
    name = None
    for k in places:
        if k > begin[-1]:
            if header[k].text in (":", "final", "<"):
                break
            name = header[k].text if is_name(header[k]) else name
    return name


def opens_scope(header):
    outside = {header[k].text for k in outside_brackets(header)}
    return bool(outside & {"struct", "class", "union", "namespace", "extern"}) and not outside & {"enum", "="}


def function_of(header):
    """The name that a function or variable with these tokens before its body has, and where it ends."""
    for k in outside_brackets(header):
        text, before = header[k].text, header[k - 1]
        if text == "operator":
            end = next(j for j in range(k + 2, len(header)) if header[j].text == "(")
            space = " " if header[k + 1].kind == "word" else ""
            return qualified(header, k, f"operator{space}" + "".join(t.text for t in header[k + 1: end])), end
        if k > 0 and (text == "=" or (text == "(" and is_name(before))):
            tilde = header[k - 2].text == "~"
            return qualified(header, k - 1 - tilde, "~" * tilde + before.text), k
    return "", 0


def qualified(header, k, name):
    """With the class that stands before it, if any."""
    if k < 2 or header[k - 1].text != "::":
        return name
    k -= 2
    depth = 0
    while k > 0 and (depth > 0 or header[k].text == ">"):
        depth += (header[k].text == ">") - (header[k].text == "<")
        k -= 1
    return f"{header[k].text}::{name}"


def functions_of(tokens, inside, other):
    """The outermost functions, part by part: name, first token that belongs to no other, and last."""
    classes, begin, brackets, name, k = [], 0, 0, "", 0
    while k < len(tokens):
        text, header = tokens[k].text, tokens[begin:k]
        ends = brackets == 0
        brackets += (text in ("(", "[")) - (text in (")", "]"))
        if text == "{" and inside[k + 1] > 0:
            at = 0
            if not header or header[0].text != "catch":  # else another part of the function before
                name, at = function_of(header)
                if classes and classes[-1] and "::" not in name:
                    name = f"{classes[-1]}::{name}"
            yield name, begin + at, other[k]
            k = other[k]
        elif text == "{" and opens_scope(header):
            classes.append(class_of(header))
        elif text == "{":
            k, ends = other[k], False
        elif text == "}" and classes:
            classes.pop()
        elif text not in ("}", ";"):
            ends = False
        begin = k + 1 if ends else begin
        k += 1


def locals_of(tokens):
    """What is declared among these tokens, parameters included."""
    found = set()
    for k in range(1, len(tokens) - 1):
        t, before, after = tokens[k], tokens[k - 1], tokens[k + 1].text
        if not is_name(t) or after == "::":
            continue
        typed = before.kind == "word" and before.text not in NO_TYPES or (
            before.text in (">", "*", "&", "&&", "...") and tokens[k - 2].end == before.begin and before.end < t.begin)
        if typed and after in ("=", ";", ",", ")", ":", "{", "(", "["):
            found.add(t.text)
        elif before.text in (",", "[") and after == "=":
            found.add(t.text)  # another of the same type, or what a lambda captures
        elif before.text in ("[", ",") and after in (",", "]") and is_binding(tokens[:k]):
            found.add(t.text)
    return found


def is_binding(before):
    """Whether names go on behind these tokens that a declaration binds: auto const& [a, b."""
    k = len(before) - 1
    while k > 0 and (before[k].text == "," or before[k].kind == "word"):
        k -= 1
    while k > 0 and before[k].text in ("[", "&", "&&", "const"):
        k -= 1
    return before[k].text == "auto"


class Names:
    """Of the places of a file: the function that each is in, and what is named near it. A name lasts that is neither local nor a
    type of numbers."""

    def __init__(self, tokens, inside, other):
        self.tokens, self.other = tokens, other
        self.function = [""] * len(tokens)
        self.locals = [set()] * len(tokens)
        for name, begin, end in functions_of(tokens, inside, other):
            self.function[begin:end] = [name] * (end - begin)
            self.locals[begin:end] = [locals_of(tokens[begin:end])] * (end - begin)

    def nearest(self, begin, end):
        """In the same statement the last before begin that lasts, or else the first from end on; "" where there is none."""
        k = begin
        while k > 0 and self.tokens[k - 1].text not in (";", "{", "}", "="):
            k -= 1
        stop = end
        while stop < len(self.tokens) and self.tokens[stop].text not in (";", "{", "}"):
            stop += 1
        return (self.lasting(k, begin) or [""])[-1] or self.first(end, stop)

    def first(self, begin, end):
        return (self.lasting(begin, end) or [""])[0]

    def head(self, begin, end):
        """What a statement calls or assigns to."""
        outside = [begin + k for k in outside_brackets(self.tokens[begin:end])]
        assigns = [k for k in outside if self.tokens[k].text in ASSIGNING]
        return next((self.called(k) for k in reversed(outside) if self.lasts(k) and (not assigns or k < assigns[0])), "")

    def lasting(self, begin, end):
        return [self.called(k) for k in range(begin, end) if self.lasts(k)]

    def lasts(self, k):
        t = self.tokens[k]
        if not is_name(t) or re.fullmatch(r"\w+_t|memory_order\w*", t.text):
            return False
        return t.text not in self.locals[k] or self.tokens[k - 1].text in (".", "->", "::")

    def called(self, k):
        """The name there, with that of what it is a member of."""
        if self.tokens[k - 1].text not in (".", "->"):
            return self.tokens[k].text
        owner = k - 2
        while self.tokens[owner].text in (")", "]"):
            owner = self.other[owner] - 1
        return f"{self.tokens[owner].text}.{self.tokens[k].text}" if self.lasts(owner) else self.tokens[k].text
