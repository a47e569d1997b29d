package import Testing

/// Records an issue with both values unless they are equal.
///
/// A function, since the compiler takes some 27 ms for each use of the macro, and the tests compare four thousand times.
/// `#expect` is for everything else.
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
