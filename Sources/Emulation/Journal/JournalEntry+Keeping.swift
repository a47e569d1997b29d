import HTTPTypes
import JSON
import Tokens
import Wire

extension JournalEntry {
    /// Reads an entry that an ``EntryWriter`` wrote. What is masked in it stays so.
    ///
    /// - Parameter guide: finds the route that was meant.
    init(kept node: FixtureNode, guide: RouteGuide) throws(FixtureProblem) {
        let members = try node.mapping(KeptExchange.members)
        let shownNode = try members.required("shown")
        let shown = try shownNode.verbatim()
        let moment = try members.required("moment").keptMoment()
        guard let id = shown["id"]?.int, id > 0, let sandbox = shown["sandbox"]?.string,
            let status = shown["status"]?.int, (100...999).contains(status),
            let request = Self.request(shown["request"])
        else { throw shownNode.problem("is not an entry of a journal") }
        let lack = try members["lacks"]?.string()
        let (sent, outcomes) = Self.signed(request, try members["tokens"]?.verbatim().array ?? [])
        let answer = Self.marked(
            Self.bytes(shown["response"]?["body"]), try members["answer_marks"]?.verbatim().array ?? [])
        var record = Self.record(of: shown)
        record.claims = try members["claims"]?.verbatim().object
        if members["is_guided"] != nil { record.guide = guide }
        self.init(
            id,
            kept: KeptExchange(
                try node.verbatim().bytes, hidesMoreThanTokens: lack == KeptExchange.Lack.secrets.rawValue,
                outcomes: outcomes),
            sandbox: sandbox, moment: moment, request: sent,
            response: Response(status: .init(code: status), body: answer), record: record,
            omitsBodies: lack == KeptExchange.Lack.content.rawValue)
    }

    /// The request as it is shown.
    private static func request(_ shown: JSON?) -> Request? {
        guard let method = shown?["method"]?.string.flatMap(HTTPRequest.Method.init(rawValue:)),
            let target = shown?["target"]?.string
        else { return nil }
        let fields = (shown?["headers"]?.array ?? []).compactMap { field -> (String, String)? in
            guard let name = field[0]?.string, let value = field[1]?.string else { return nil }
            return (name, value)
        }
        return Request(method: method, target: target, fields: FieldLines(fields), body: bytes(shown?["body"]))
    }

    private static func bytes(_ body: JSON?) -> [UInt8] {
        guard let body, !body.isNull, body.string != MaskedExchange.omittedBody else { return [] }
        return body.string.map { Array($0.utf8) } ?? body.bytes
    }

    /// The request with marks in the place of its tokens' signatures, so that they are told apart as when it was sent;
    /// they are masked like signatures.
    private static func signed(_ request: Request, _ tokens: [JSON]) -> (Request, [Substring: TokenOutcome]) {
        var (outcomes, marked): ([Substring: TokenOutcome], [String]) = ([:], [])
        for (token, kept) in zip(PresentedTokens.of(request), tokens) {
            let signed = PresentedTokens.signed(token)
            outcomes[signed] = TokenOutcome(kept)
            marked.append(signed + (kept["mark"]?.string ?? ""))
        }
        if marked.isEmpty { return (request, outcomes) }
        var request = request
        request.target = PresentedTokens.unmasked(request.target, marked)
        request.fields = FieldLines(request.fields.map { ($0.name, PresentedTokens.unmasked($0.value, marked)) })
        request.body = Array(PresentedTokens.unmasked(String(decoding: request.body, as: UTF8.self), marked).utf8)
        return (request, outcomes)
    }

    /// The content of an answer with marks, as above.
    private static func marked(_ body: [UInt8], _ marks: [JSON]) -> [UInt8] {
        if marks.isEmpty { return body }
        let text = String(decoding: body, as: UTF8.self)
        let marked = zip(PresentedTokens.found(in: [text]), marks).map { token, mark in
            "\(PresentedTokens.signed(token))\(mark.string ?? "")"
        }
        return Array(PresentedTokens.unmasked(text, marked).utf8)
    }

    private static func record(of shown: JSON) -> ExchangeRecord {
        var record = ExchangeRecord()
        record.vendor = shown["vendor"]?.string
        record.route = shown["route"]?.string
        record.failure = shown["failure"]?.string
        record.reason = shown["reason"]?.string
        let interventions = shown["intervention"].map { $0.array ?? [$0] } ?? []
        record.intervention = interventions.first?.string
        record.ownInterventions = Array(interventions.dropFirst(record.intervention == nil ? 0 : 1))
        for finding in shown["findings"]?.array ?? [] {
            // Others are only shown, and that is done from the text.
            guard finding["outcome"]?.string == Finding.Outcome.noted.rawValue, let check = finding["check"]?.string
            else { continue }
            record.checks.append(
                Finding(
                    check, .noted, found: finding["found"].map(Fact.init(shown:)), note: finding["note"]?.string))
        }
        return record
    }
}

extension Fact {
    /// A fact that reads as the one which was shown like this.
    fileprivate init(shown: JSON) {
        self =
            switch shown {
            case .null: .absent
            case .string(let text): .text(text)
            case .bool, .number, .array, .object: .json(shown)
            }
    }
}
