internal import JSON
import Tokens
import Wire

/// An exchange as a file keeps it: what the journal shows of it, and what verifying and repeating it need besides.
///
/// All of it is masked, so the file tells no more than an answer of the journal does.
package final class KeptExchange: Sendable {
    /// The members of ``text``.
    static let members = ["shown", "moment", "claims", "is_guided", "lacks", "tokens", "answer_marks"]

    /// Why a request cannot be repeated from what is kept of it.
    enum Lack: String {
        /// Bodies were too long.
        case content
        /// The journal masks more than tokens.
        case secrets
    }

    /// The JSON of the file.
    let text: [UInt8]
    /// Whether the request holds more secrets than tokens.
    let hidesMoreThanTokens: Bool
    /// How the vendor judged the request's tokens, by what stands before the signature.
    private let outcomes: [Substring: TokenOutcome]

    init(_ text: [UInt8], hidesMoreThanTokens: Bool, outcomes: [Substring: TokenOutcome]) {
        self.text = text
        self.hidesMoreThanTokens = hidesMoreThanTokens
        self.outcomes = outcomes
    }

    /// How the vendor judged a token of the request when it arrived.
    package func outcome(of token: String) -> TokenOutcome? { outcomes[PresentedTokens.signed(token)] }

    /// The entry as the journal showed it, without the secrets that have become known since.
    func shown(by redactor: Redactor) -> JSON {
        // Written by this process, or read from a file before: it always can be read.
        let kept = try? JSON.parse(text, maximumDepth: JSON.keptDepth)
        return kept?["shown"].map(redactor.answer) ?? .null
    }
}

/// Turns entries of a journal into what a file keeps of them.
struct EntryWriter {
    /// Hides their secrets.
    let redactor: Redactor
    /// Finds the nearest routes of requests that matched none.
    let routes: RouteTable
    /// The server that answers, where several share a folder.
    var replica: String? = nil
    /// How a vendor judges a token at a moment; `nil` for a vendor that is not there.
    let judge: (_ vendor: String, _ token: String, Moment) -> TokenOutcome?

    /// The JSON that ``JournalEntry/init(kept:guide:)`` reads.
    func text(of entry: JournalEntry) -> [UInt8] {
        if let kept = entry.kept { return redactor.answer(kept.text) }
        let masked = MaskedExchange(entry, by: redactor)
        let shown = masked.json(routes: routes, replica: replica)
        var kept: JSONObject = ["shown": shown, "moment": entry.moment.written]
        kept["claims"] = masked.claims.map(JSON.object)
        if entry.record.guide != nil { kept["is_guided"] = true }
        let tokens = PresentedTokens.of(entry.request)
        kept["lacks"] = lack(of: entry, masked, tokens).map { .string($0.rawValue) }
        if kept["lacks"] == nil, let vendor = entry.record.vendor, !tokens.isEmpty {
            kept["tokens"] = .array(tokens.map { .object(self.token($0, of: vendor, at: entry.moment)) })
        }
        kept["answer_marks"] = answerMarks(entry, shown["response"]?["body"])
        return JSON.object(kept).bytes
    }

    /// The marks of the tokens in an answer, if all of them are shown; later calls may present them.
    private func answerMarks(_ entry: JournalEntry, _ shown: JSON?) -> JSON? {
        let tokens = PresentedTokens.found(in: [String(decoding: entry.response.body, as: UTF8.self)])
        guard !tokens.isEmpty, let shown else { return nil }
        let left = PresentedTokens.found(in: [shown.string ?? shown.text])
        guard left.map(PresentedTokens.signed) == tokens.map(PresentedTokens.signed) else { return nil }
        return .array(tokens.map(mark))
    }

    private func lack(of entry: JournalEntry, _ masked: MaskedExchange, _ tokens: [String]) -> KeptExchange.Lack? {
        if entry.omitsBodies || entry.request.bodyExceedsLimit { return .content }
        // Tokens that differ in nothing but their signatures look the same when masked.
        let areDistinct = Set(tokens.map(PresentedTokens.signed)).count == tokens.count
        return areDistinct && !masked.hidesMoreThanTokens ? nil : .secrets
    }

    /// What is kept of a token: enough to mint another one, and its mark.
    private func token(_ token: String, of vendor: String, at moment: Moment) -> JSONObject {
        var kept = judge(vendor, token, moment)?.json ?? [:]
        kept["mark"] = mark(token)
        return kept
    }

    /// Tells a token from others. Salted by the process: a plain hash would let people test guesses of a secret.
    private func mark(_ token: String) -> JSON { .string(String(UInt(bitPattern: token.hashValue), radix: 36)) }
}
