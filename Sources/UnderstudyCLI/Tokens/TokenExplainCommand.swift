import ArgumentParser
import Emulation
import JSON
import Tokens
import Understudy

struct TokenExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Says what a vendor would answer to a token, and why.",
        discussion: """
            Example: understudy token mint rezolve login --defect expired | understudy token explain
            Example: understudy token explain --request device_id=my-device eyJ…

            It shows every check of the vendor whose key fits, and one line for each other vendor; --vendor selects a vendor.

            Checks that need the request (path, device header) are “not judged” unless --request supplies the value.
            Exit codes: 0 no check failed, 1 the token would be refused, 2 misuse.
            """)

    @Argument(help: "The token; without one, or with “-”, it is read from standard input.")
    var token: String?

    @Option(help: "Judge only as this vendor.", completion: .vendors)
    var vendor: String?

    @Option(name: .customLong("request"), help: "A fact about the request, NAME=VALUE, such as device_id=d1.")
    var request: [String] = []

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var place: TokenPlace

    func run() throws {
        let text = try TokenInput.read(token)
        let context = JSONObject(
            try request.map { try NamedValue.parse($0, option: "--request") }.map { ($0.name, .string($0.value)) })
        var body: JSONObject = ["token": .string(text), "request": .object(context)]
        body["vendor"] = vendor.map(JSON.string)
        let answer = try place.answer("tokens/explain", body)
        let verdicts = try answer.map { $0["verdicts"]?.array ?? [] } ?? explainOffline(text, context)
        if json { Output.json(["verdicts": .array(verdicts)]) } else { show(verdicts) }
        if verdicts.allSatisfy({ $0["accepted"] == false }) { throw AnswerIsNo() }
    }

    private func explainOffline(_ text: String, _ context: JSONObject) throws -> [JSON] {
        let emulator = try place.fixtureOptions.emulator()
        let moment = try MomentOption.parse(place.at)
        let indices = try vendor.map { [try emulator.index(of: $0)] } ?? emulator.tokenVendors
        if let problem = indices.map({ emulator.vendors[$0] }).problem(withFacts: context) {
            throw Misuse("--request: \(problem)")
        }
        return indices.map { index in
            emulator.sandboxes.standard.vendor(index).explain(text, knowing: context, at: moment).json
        }
    }

    /// All checks of the vendors whose key fits, or of the given vendor; one line for every other vendor.
    private func show(_ verdicts: [JSON]) {
        let isWhole = { (verdict: JSON) in verdicts.count == 1 || verdict["account"]?.string != nil }
        let (whole, others) = (verdicts.filter(isWhole), verdicts.filter { !isWhole($0) })
        for verdict in whole { show(verdict) }
        if others.isEmpty { return }
        if !whole.isEmpty { Output.line() }
        for verdict in others { Output.line(line(of: verdict)) }
        if whole.isEmpty { Output.line("No vendor has a key that fits; --vendor NAME shows every check of one.") }
    }

    private func line(of verdict: JSON) -> String {
        let name = verdict["vendor"]?.string ?? ""
        guard let failure = verdict["failure"]?.string else {
            return "\(name): would accept it, as far as a token alone can tell"
        }
        let status = verdict["answer"]?["status"]?.int.map { "\($0) " } ?? ""
        return
            "\(name): \(condition(of: verdict))would answer \(status)(\(failure)): \(Output.printable(verdict["reason"]?.string ?? ""))"
    }

    /// Says that a refusal is only of what comes after a signature that could not be judged.
    private func condition(of verdict: JSON) -> String {
        let before = (verdict["findings"]?.array ?? []).prefix { $0["outcome"] != "failed" }
        let isOpen = before.contains { $0["check"] == "signature" && $0["outcome"] == "not-judged" }
        return isOpen ? "cannot say, as the signature was not judged; if it is valid, " : ""
    }

    private func show(_ verdict: JSON) {
        let kind = verdict["kind"]?.string.map { "\($0) token" } ?? "no token it knows"
        let account =
            verdict["account"]?.string.map { ", signed with the key of \($0)" } ?? ", signed with no known key"
        Output.line("\(verdict["vendor"]?.string ?? ""): \(kind)\(account)")
        if let failure = verdict["failure"]?.string {
            let status = verdict["answer"]?["status"]?.int.map(String.init) ?? ""
            Output.line("\(condition(of: verdict))would answer \(status) (\(failure)):")
            Output.line(verdict["answer"]?["body"]?.text ?? "")
        } else {
            Output.line("would accept it, as far as a token alone can tell")
        }
        Output.line()
        FindingTable.show(verdict["findings"]?.array ?? [])
        for client in verdict["clients"]?.array ?? [] {
            Output.line()
            let name = client["client"]?.string ?? ""
            Output.line("\(name) \(client["usable"] == true ? "would send it" : "would not send it"):")
            FindingTable.show(client["findings"]?.array ?? [])
        }
    }
}

enum FindingTable {
    static func show(_ findings: [JSON]) {
        for line in lines(findings) { Output.line(line) }
    }

    static func lines(_ findings: [JSON]) -> [String] {
        Output.lines(
            of: findings.map { finding in
                let outcome = finding["outcome"]?.string ?? ""
                let mark = outcome == "failed" ? "FAILED" : outcome.replacing("-", with: " ")
                return ["  \(mark)", finding["check"]?.string ?? "", details(finding)]
            })
    }

    private static func details(_ finding: JSON) -> String {
        var parts: [String] = []
        // A passed check found what it expected.
        if finding["outcome"] != "passed" {
            if let expected = finding["expected"] {
                parts.append("expected \(expected.isNull ? "nothing" : text(expected))")
            }
            if let found = finding["found"] { parts.append("found \(found.isNull ? "nothing" : text(found))") }
        }
        let note = finding["note"]?.string.map { [parts.isEmpty ? $0 : "— \($0)"] } ?? []
        let source = finding["source"]?.string.map { ["[\($0)]"] } ?? []
        return ([parts.joined(separator: ", ")].filter { !$0.isEmpty } + note + source).joined(separator: " ")
    }

    /// A text without quotes, unless it would look like another type: “"1795360751"” is not a number.
    private static func text(_ value: JSON) -> String {
        guard let text = value.string, (try? JSON.parse(text.utf8)) == nil else { return Output.printable(value.text) }
        return Output.printable(text)
    }
}
