package import Testing

/// Records an issue with both values unless they are equal.
///
/// A function, since the compiler takes some 27 ms for each use of the macro, and the tests compare four thousand times.
/// `#expect` is for order, ranges and errors.
package func expect<Value: Equatable>(
    _ found: Value, is expected: Value, _ comment: @autoclosure () -> String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    guard found != expected else { return }
    let remark = comment()
    Issue.record(
        "found \(String(reflecting: found)); expected \(String(reflecting: expected))\(remark.isEmpty ? "" : ": \(remark)")",
        sourceLocation: sourceLocation)
}

/// Records an issue with the text unless it begins with, contains, ends with and lacks these parts.
package func expect(
    _ found: String, begins start: String = "", contains parts: String..., ends end: String = "",
    lacks unwanted: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
) {
    func check(_ isMet: Bool, _ expectation: String, _ part: String) {
        guard !isMet else { return }
        Issue.record(
            "found \(String(reflecting: found)); it \(expectation) \(String(reflecting: part))",
            sourceLocation: sourceLocation)
    }
    check(start.isEmpty || found.hasPrefix(start), "does not begin with", start)
    for part in parts { check(found.contains(part), "does not contain", part) }
    check(end.isEmpty || found.hasSuffix(end), "does not end with", end)
    if let unwanted { check(!found.contains(unwanted), "contains", unwanted) }
}

/// Records an issue with all lines unless this one is among them.
package func expect(
    _ found: [String], contains line: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    guard !found.contains(line) else { return }
    Issue.record("\(String(reflecting: line)) is not among \(found)", sourceLocation: sourceLocation)
}

/// Records an issue with what is there unless nothing is.
package func expectEmpty(_ found: some Collection, sourceLocation: SourceLocation = #_sourceLocation) {
    guard !found.isEmpty else { return }
    Issue.record("found \(String(reflecting: found)); expected nothing", sourceLocation: sourceLocation)
}
