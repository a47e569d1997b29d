import Testing
import Wire

@testable import HTTPEngine

/// What the frames of a client came to, in a form that can be compared byte by byte.
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

    /// Whether nothing may follow.
    var isLast: Bool {
        switch self {
        case .close, .failure: true
        case .text, .binary, .ping, .pong: false
        }
    }

    /// The outcomes of the bytes fed whole, which must be those of the bytes one by one and in odd portions.
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

    /// Feeds the bytes in portions of these sizes, again and again, and collects what comes out.
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
        // Something behind an end is a fault, and one is enough of it.
        while outcomes.dropLast().last?.isLast != true {
            switch next() {
            case .more:
                // A header is all that may wait: payloads go where they belong as they come.
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
