import Testing
import Wire

@testable import HTTPEngine

/// The outcome of a client's frames, comparable byte by byte.
enum WebSocketOutcome: Hashable {
    case text([UInt8])
    case binary([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(UInt16, [UInt8])
    case failure(WebSocketClosure)

    static func text(_ text: String) -> Self { .text(Array(text.utf8)) }
    static func close(_ code: WebSocketClosure.Code, _ reason: String = "") -> Self {
        .close(code.rawValue, Array(reason.utf8))
    }
    static func failure(_ failure: WebSocketFailure) -> Self { .failure(failure.closure) }

    /// Whether nothing may follow it.
    var isLast: Bool {
        switch self {
        case .close, .failure: true
        case .text, .binary, .ping, .pong: false
        }
    }

    /// The outcomes of the bytes fed at once, which must match those fed one by one and in odd portions.
    static func read(
        _ bytes: [UInt8], limit: Int = 1024, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [WebSocketOutcome] {
        let whole = read(bytes, portions: [.max], limit: limit)
        for portions in [[1], [2], [3, 1, 7, 2, 13, 5, 11], [1, 1, 64, 3]] {
            let outcomes = read(bytes, portions: portions, limit: limit)
            #expect(outcomes == whole, "in portions of \(portions)", sourceLocation: sourceLocation)
        }
        return whole
    }

    /// Feeds the bytes in portions of these sizes, cyclically, and collects the outcomes.
    static func read(_ bytes: [UInt8], portions: [Int], limit: Int) -> [WebSocketOutcome] {
        var frames = WebSocketFrames(maximumMessageBytes: limit)
        var outcomes: [WebSocketOutcome] = []
        var start = 0
        var turn = 0
        while start < bytes.count {
            let end = start + min(portions[turn % portions.count], bytes.count - start)
            bytes[start..<end].withUnsafeBytes { frames.feed($0) }
            frames.collect(&outcomes)
            start = end
            turn += 1
        }
        return outcomes
    }
}

extension WebSocketFrames {
    fileprivate mutating func collect(_ outcomes: inout [WebSocketOutcome]) {
        // An outcome after an end is a fault; one is enough.
        while outcomes.dropLast().last?.isLast != true {
            switch next() {
            case .more:
                // Only a header may wait: payloads are passed on as they arrive.
                if bufferedCount >= 14 { Issue.record("\(bufferedCount) bytes wait for more") }
                return
            case .message(.text(let text)): outcomes.append(.text(text))
            case .message(.binary(let bytes)): outcomes.append(.binary(bytes))
            case .ping(let payload): outcomes.append(.ping(payload))
            case .pong(let payload): outcomes.append(.pong(payload))
            case .close(let closure): outcomes.append(.close(closure.code, closure.reason))
            case .failure(let closure): outcomes.append(.failure(closure))
            }
        }
    }
}
