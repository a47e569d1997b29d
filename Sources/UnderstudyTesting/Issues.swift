#if canImport(Testing)
    import Testing
#endif
#if canImport(XCTest)
    import XCTest
#endif

/// Reports unmet expectations to the test framework of the running test.
struct Issues: Sendable {
    /// Whether a Swift Testing test created this. Read once at creation: a detached task no longer knows its test.
    private let isSwiftTesting: Bool

    init() {
        #if canImport(Testing)
            isSwiftTesting = Test.current != nil
        #else
            isSwiftTesting = false
        #endif
    }

    /// Records an issue at a place in the test, with Swift Testing if one of its tests runs, otherwise with XCTest.
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
