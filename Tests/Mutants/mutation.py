"""Finds places in Swift sources where one operator, constant or condition can be changed, and writes the change.

Each changed place decides at run time, by its number, whether to apply the change. So one build contains them all.
"""

import re
from dataclasses import dataclass

# Comments, string literals and regular expressions, which are not code. Interpolations are skipped with their strings.
OPAQUE = re.compile(
    r'//[^\n]*|/\*.*?\*/|(#*)"""(?:\\.|[^\\])*?"""\1|#"(?:[^"]|"(?!#))*"#|"(?:\\\([^\n]*?\)|\\.|[^"\\\n])*"'
    r"|(?<=[(,:=\s])/(?![\s/*=])(?:\\.|[^\\/\n])*(?<!\s)/(?=[\s.,)])", re.S)
COMPARISON = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+"}
OPERATOR = re.compile(r"(?<=[\w)\]?!\"}]) (<=|>=|==|!=|<|>|&&|\|\||\+|-) (?=[\w(\[.!\"-])")
INTEGER = re.compile(r"(?<![\w.$#\"])(?:0x[0-9A-Fa-f_]+|\d[\d_]*)(?![\w.\"])")
TRUTH = re.compile(r"(?<![\w.])(true|false)\b")
CONDITION = re.compile(r"^(\s*(?:\} else )?(?:if|guard) )(?!let\b|var\b|case\b|#|!?await)([^{},\n\"]+?)( else)? \{", re.M)
# Places without expressions: declarations of cases and operators, patterns, attributes, types.
NO_EXPRESSION = re.compile(
    r"^\s*(?:@|case\b|#|import\b|(?:public |package |private |fileprivate |internal )*(?:import|typealias|associatedtype|infix|"
    r"precedencegroup|protocol|extension|enum|struct|class|actor)\b)|\bwhere\b|operator\b|@available|\[_\]")


@dataclass(frozen=True)
class Mutant:
    """One change at one place."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str
    kind: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.before} became {self.after}"


def candidates(path: str, text: str) -> list[Mutant]:
    """Every possible change to a file, in source order."""
    code = OPAQUE.sub(lambda match: re.sub(r"[^\n]", "\x01", match[0]), text)
    lines = code.split("\n")
    found = []

    def add(match, group, after, kind):
        line = code.count("\n", 0, match.start(group)) + 1
        if not NO_EXPRESSION.search(lines[line - 1]) or kind == "condition":
            found.append(
                Mutant(path, line, match.start(group), match.end(group), match[group], after, kind))

    for match in OPERATOR.finditer(code):
        operator = match[1]
        # Generic brackets are never surrounded by blanks; concatenated strings are not sums.
        if operator in ARITHMETIC and "\x01" in lines[code.count("\n", 0, match.start()) ]:
            continue
        after = COMPARISON.get(operator) or LOGIC.get(operator) or ARITHMETIC[operator]
        add(match, 1, after, "operator")
    for match in INTEGER.finditer(code):
        value = int(match[0].replace("_", ""), 0)
        add(match, 0, str(value + 1), "constant")
    for match in TRUTH.finditer(code):
        add(match, 1, "false" if match[1] == "true" else "true", "truth")
    for match in CONDITION.finditer(code):
        if " as? " not in match[2] and "available" not in match[2]:
            add(match, 2, f"not ({match[2]})", "condition")
    return sorted(found, key=lambda mutant: mutant.start)


def operator_name(number: int) -> str:
    """An operator for this change alone: operators cannot contain digits, so its number uses two characters."""
    return "~^" + format(number, "b").replace("0", "^").replace("1", "~")


def written(mutant: Mutant, number: int) -> str:
    """The replacement text for the changed place."""
    match mutant.kind:
        case "operator": return operator_name(number)
        case "constant": return f"mutantConstant({number}, {mutant.before}, {mutant.after})"
        case "truth": return f"mutantTruth({number}, {mutant.before})"
        case _: return f"mutantTruth({number}, {mutant.before})"


def apply(text: str, mutants: dict[int, Mutant]) -> str:
    """The text with these changes; if several overlap, the first one wins."""
    for number, mutant in sorted(mutants.items(), key=lambda item: -item[1].start):
        text = text[: mutant.start] + written(mutant, number) + text[mutant.end :]
    return text


def switch_file(operators: dict[int, Mutant]) -> str:
    """The code with which a module selects the active change."""
    lines = [
        "#if canImport(Glibc)", "    @_implementationOnly import Glibc", "#elseif canImport(Darwin)",
        "    @_implementationOnly import Darwin", "#endif", "",
        "@usableFromInline let activeMutant: Int = getenv(\"UNDERSTUDY_MUTANT\").flatMap { Int(String(cString: $0)) } ?? -1",
        "@inline(never) @usableFromInline func mutantTruth(_ number: Int, _ value: Bool) -> Bool {",
        "    activeMutant == number ? !value : value", "}",
        "@inline(never) @usableFromInline func mutantConstant<Value: ExpressibleByIntegerLiteral>(",
        "    _ number: Int, _ before: Value, _ after: Value", ") -> Value {",
        "    activeMutant == number ? after : before", "}",
    ]
    for number, mutant in operators.items():
        name = operator_name(number)
        head = f"@usableFromInline func {name} "

        def body(before: str, after: str) -> str:
            return f"{{ activeMutant == {number} ? {after} : {before} }}"

        before, after = f"left {mutant.before} right", f"left {mutant.after} right"
        if mutant.before in LOGIC:
            precedence = "LogicalConjunctionPrecedence" if mutant.before == "&&" else "LogicalDisjunctionPrecedence"
            lines.append(
                head + "(left: Bool, right: @autoclosure () throws -> Bool) rethrows -> Bool "
                + f"{{ activeMutant == {number} ? try left {mutant.after} right() : try left {mutant.before} right() }}")
        elif mutant.before in ARITHMETIC:
            precedence = "AdditionPrecedence"
            lines.append(
                head + f"<Value: AdditiveArithmetic>(left: Value, right: Value) -> Value {body(before, after)}")
        else:
            precedence = "ComparisonPrecedence"
            constraint = "Equatable" if mutant.before in ("==", "!=") else "Comparable"
            lines.append(head + f"<Value: {constraint}>(left: Value, right: Value) -> Bool {body(before, after)}")
            if constraint == "Equatable":
                lines.append(
                    head + "<Value>(left: Value?, right: _OptionalNilComparisonType) -> Bool "
                    + f"{{ (left {mutant.before} nil) != (activeMutant == {number}) }}")
        lines.append(f"infix operator {name}: {precedence}")
    return "\n".join(lines) + "\n"
