package import Testing

/// Records an issue with both values unless they are equal.
///
/// A function, since the compiler takes some 27 ms for each use of the macro, and the tests compare four thousand times.
/// `#expect` is for what none of these functions tells.
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

/// Records an issue unless the number is greater.
package func expect<Value: Comparable>(
    _ found: Value, above bound: Value, sourceLocation: SourceLocation = #_sourceLocation
) {
    guard found <= bound else { return }
    Issue.record("found \(found); expected more than \(bound)", sourceLocation: sourceLocation)
}

/// Records an issue unless the work throws this error.
package func expect<Failure: Error & Equatable, Result>(
    throws expected: Failure, sourceLocation: SourceLocation = #_sourceLocation, _ work: () throws -> Result
) {
    guard let error = expect(throws: Failure.self, sourceLocation: sourceLocation, work) else { return }
    expect(error, is: expected, sourceLocation: sourceLocation)
}

/// Records an issue unless the work throws an error of this type; returns the error.
@discardableResult package func expect<Failure: Error, Result>(
    throws type: Failure.Type, sourceLocation: SourceLocation = #_sourceLocation, _ work: () throws -> Result
) -> Failure? {
    do {
        let result = try work()
        Issue.record("found \(result); expected an error of \(type)", sourceLocation: sourceLocation)
    } catch let error as Failure {
        return error
    } catch {
        Issue.record("found \(String(reflecting: error)); expected an error of \(type)", sourceLocation: sourceLocation)
    }
    return nil
}
