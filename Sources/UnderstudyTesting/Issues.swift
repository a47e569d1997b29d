#if canImport(Testing)
    import Testing
#endif
#if canImport(XCTest)
    import XCTest
#endif

/// Tells the test framework that runs the present test of something that did not come true.
struct Issues: Sendable {
    /// Whether a test of Swift Testing began this. Asked then: a detached task does not know of its test any more.
    private let isSwiftTesting: Bool

    init() {
        #if canImport(Testing)
            isSwiftTesting = Test.current != nil
        #else
            isSwiftTesting = false
        #endif
    }

    /// Records an issue at a place of the test: with Swift Testing where one of its tests runs, else with XCTest.
    func record(_ message: String, fileID: String, filePath: StaticString, line: UInt, column: UInt) {
        #if canImport(Testing)
            if isSwiftTesting {
                let place = SourceLocation(
                    fileID: fileID, filePath: "\(filePath)", line: Int(line), column: Int(column))
                Issue.record(Comment(rawValue: message), sourceLocation: place)
                return
            }
        #endif
        #if canImport(XCTest)
            XCTFail(message, file: filePath, line: line)
        #else
            preconditionFailure(message)
        #endif
    }
}
