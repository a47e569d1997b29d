import Wire

@testable import HTTPEngine

/// What a parser made of some bytes, in a form that can be compared.
enum ParserOutcome: Hashable {
    case request(Parsed)
    case refusal(Refusal)

    /// A request with everything that a handler can see of it.
    struct Parsed: Hashable {
        var method: String
        var target: String
        var authority: String?
        var fields: [String]
        var body: [UInt8]
        var exceeds: Bool
        var version: String
        var persists: Bool
        var expectsContinue: Bool
    }

    /// Feeds the bytes in portions of these sizes, the last one again and again, and collects what comes out.
    static func parse(
        _ bytes: [UInt8], portions: [Int] = [.max], limits: Limits = Limits(), bodyLimit: Int = 1024
    ) -> [ParserOutcome] {
        var parser = RequestParser(limits: limits)
        var outcomes: [ParserOutcome] = []
        var start = 0
        var sizes = portions.makeIterator()
        var size = portions.first ?? .max
        repeat {
            size = sizes.next() ?? size
            let end = start + min(size, bytes.count - start)
            bytes[start..<end].withUnsafeBytes { parser.feed($0) }
            start = end
            parser.collect(&outcomes, bodyLimit)
        } while start < bytes.count
        return outcomes
    }

    /// The outcomes of a text.
    static func parse(_ text: String, limits: Limits = Limits(), bodyLimit: Int = 1024) -> [ParserOutcome] {
        parse(Array(text.utf8), limits: limits, bodyLimit: bodyLimit)
    }

    /// The requests among the outcomes of a text.
    static func requests(_ text: String, bodyLimit: Int = 1024) -> [Parsed] {
        parse(text, bodyLimit: bodyLimit).compactMap { if case .request(let parsed) = $0 { parsed } else { nil } }
    }
}

extension RequestParser {
    fileprivate mutating func collect(_ outcomes: inout [ParserOutcome], _ bodyLimit: Int) {
        while true {
            switch next() {
            case .more: return
            case .head: acceptContent(upTo: bodyLimit)
            case .refusal(let refusal): outcomes.append(.refusal(refusal))
            case .request(let request):
                outcomes.append(.request(.init(request, persists: persists, expectsContinue: expectsContinue)))
            }
        }
    }
}

extension ParserOutcome.Parsed {
    fileprivate init(_ request: Request, persists: Bool, expectsContinue: Bool) {
        self.init(
            method: request.method.rawValue, target: request.target, authority: request.authority,
            fields: request.fields.map { "\($0.name): \($0.value)" }, body: request.body,
            exceeds: request.bodyExceedsLimit, version: request.version.rawValue, persists: persists,
            expectsContinue: expectsContinue)
    }
}
