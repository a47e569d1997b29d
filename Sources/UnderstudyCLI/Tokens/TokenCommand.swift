import ArgumentParser
import Emulation
import JSON
import Tokens
import Understudy

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Makes, explains and verifies tokens.",
        subcommands: [TokenMintCommand.self, TokenExplainCommand.self, TokenVerifyCommand.self])
}

enum NamedValue {
    static func parse(_ text: String, option: String) throws -> (name: String, value: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw Misuse("\(option) \(text) is not of the form NAME=VALUE.")
        }
        return (parts[0], parts[1])
    }

    /// The values as members: JSON if they parse as such, otherwise strings.
    static func members(_ texts: [String], option: String) throws -> JSONObject {
        var members = JSONObject()
        for text in texts {
            let (name, value) = try parse(text, option: option)
            // A value that is not JSON is a string.
            members[name] = (try? JSON.parse(value.utf8)) ?? .string(value)
        }
        return members
    }
}

enum TokenInput {
    /// Reads the argument; `-` or none means standard input. Drops surrounding whitespace and a leading `Bearer`.
    static func read(_ argument: String?) throws -> String {
        let text = argument == nil || argument == "-" ? try standardInput() : argument ?? ""
        let trimmed = text.withoutOuterBlanks
        if trimmed.isEmpty { throw Misuse("no token: the argument or standard input is empty.") }
        let prefix = "bearer "
        return trimmed.lowercased().hasPrefix(prefix) ? String(trimmed.dropFirst(prefix.count)) : trimmed
    }

    private static func standardInput() throws -> String {
        if Files.inputIsTerminal { throw Misuse("no token: give it as an argument or on standard input.") }
        return String(decoding: try standardInputBytes(), as: UTF8.self)
    }

    /// The bytes of standard input without the final line break, which any program that prints a token adds.
    static func standardInputLine() throws -> [UInt8] {
        var bytes = try standardInputBytes()
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast(bytes.suffix(2).first == UInt8(ascii: "\r") ? 2 : 1) }
        return bytes
    }

    private static func standardInputBytes() throws -> [UInt8] {
        do {
            return try Files.standardInput()
        } catch {
            throw Misuse("standard input cannot be read: \(error)")
        }
    }
}

extension String {
    /// The text without surrounding whitespace and line breaks.
    var withoutOuterBlanks: String {
        let isBlank = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
        return String(
            String.UnicodeScalarView(
                unicodeScalars.drop(while: isBlank).reversed().drop(while: isBlank).reversed()))
    }
}

enum MomentOption {
    static func parse(_ text: String?) throws -> Moment {
        guard let text else { return SandboxClock.machine }
        return try Misuse.require(
            Moment(text: text), "--at \(text) is not a time (Unix seconds, or RFC 3339 such as 2027-01-15T08:00:00Z).")
    }
}

struct TokenMintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mint", abstract: "Makes a token, valid or with one defect.",
        discussion: """
            Example: understudy token mint rezolve login --defect expired
            Example: understudy token mint rezolve registration --with partner=3 --with partner_entity_id=user-7

            Without a kind it lists the kinds. Defects of every vendor:
            \(Defect.names.joined(separator: ", "))
            """)

    @Argument(help: "The vendor.", completion: .vendors)
    var vendor: String

    @Argument(help: "The kind of token; without one, the kinds are listed.", completion: .tokenKinds)
    var kind: String?

    @Option(help: "The token's defect.", completion: .defects)
    var defect: String?

    @Option(name: .customLong("with"), help: "A member of the kind, NAME=VALUE, such as expires_in=60.")
    var members: [String] = []

    @Option(name: .customLong("claim"), help: "A claim, NAME=VALUE; the value is JSON, otherwise a string.")
    var claims: [String] = []

    @Option(
        name: .customLong("header"), help: "A member of the header, NAME=VALUE; the value is JSON, otherwise a string.")
    var header: [String] = []

    @Flag(help: "Write JSON with token, header and claims.")
    var json = false

    @OptionGroup var place: TokenPlace

    func run() throws {
        guard let kind else { return try listKinds() }
        let order = try order()
        if let answer = try place.answer("tokens/\(vendor)/\(kind)", order) { return try show(answer) }
        let emulator = try place.fixtureOptions.emulator()
        let index = try emulator.index(of: vendor)
        let mounted = emulator.vendors[index]
        let kinds = mounted.tokenKinds.map(\.name)
        try Misuse.require(kinds.contains(kind), "\(vendor) has no token of kind", kind, among: kinds)
        do {
            let sandbox = emulator.sandboxes.standard
            let minted = try sandbox.vendor(index).mint(
                MintRequest(kind: kind, members: order), at: try MomentOption.parse(place.at), by: .none,
                sandbox.identifiers)
            try show(minted.json)
        } catch let refusal as ControlRefusal {
            throw Misuse(refusal.description)
        }
    }

    private func order() throws -> JSONObject {
        var order = JSONObject()
        for text in members {
            let (name, value) = try NamedValue.parse(text, option: "--with")
            order[name] = .string(value)
        }
        if let defect { order["defect"] = .string(defect) }
        if !header.isEmpty { order["header"] = .object(try NamedValue.members(header, option: "--header")) }
        if !claims.isEmpty { order["claims"] = .object(try NamedValue.members(claims, option: "--claim")) }
        return order
    }

    private func show(_ minted: JSON) throws {
        guard let token = minted["token"]?.string else {
            throw AnswerIsNo(message: "the answer has no token; is it a server of Understudy that --server names?")
        }
        if json { Output.json(minted) } else { Output.line(Output.printable(token)) }
    }

    private func listKinds() throws {
        let emulator = try place.fixtureOptions.emulator()
        for kind in emulator.vendors[try emulator.index(of: vendor)].tokenKinds {
            Output.line("\(kind.name): \(kind.about)")
            Output.table(kind.members.map { ["  --with \($0.name)=…", $0.about] })
            if !kind.defects.isEmpty { Output.line("  own defects: \(kind.defects.joined(separator: ", "))") }
        }
    }
}

extension Emulator {
    func index(of vendor: String) throws -> Int {
        try Misuse.require(
            vendors.firstIndex { $0.identity.id == vendor }, "no vendor is called", vendor,
            among: vendors.map(\.identity.id))
    }
}

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
        let verdicts = try answer.map { $0.elements("verdicts") } ?? explainOffline(text, context)
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
        let name = verdict.text("vendor")
        guard let failure = verdict["failure"]?.string else {
            return "\(name): would accept it, as far as a token alone can tell"
        }
        let status = verdict["answer"]?["status"]?.int.map { "\($0) " } ?? ""
        return
            "\(name): \(condition(of: verdict))would answer \(status)(\(failure)): \(Output.printable(verdict.text("reason")))"
    }

    /// Says that a refusal is only of what comes after a signature that could not be judged.
    private func condition(of verdict: JSON) -> String {
        let before = verdict.elements("findings").prefix { $0["outcome"] != "failed" }
        let isOpen = before.contains { $0["check"] == "signature" && $0["outcome"] == "not-judged" }
        return isOpen ? "cannot say, as the signature was not judged; if it is valid, " : ""
    }

    private func show(_ verdict: JSON) {
        let kind = verdict["kind"]?.string.map { "\($0) token" } ?? "no token it knows"
        let account =
            verdict["account"]?.string.map { ", signed with the key of \($0)" } ?? ", signed with no known key"
        Output.line("\(verdict.text("vendor")): \(kind)\(account)")
        if let failure = verdict["failure"]?.string {
            let status = verdict["answer"]?["status"]?.int.map(String.init) ?? ""
            Output.line("\(condition(of: verdict))would answer \(status) (\(failure)):")
            Output.line(verdict["answer"]?["body"]?.text ?? "")
        } else {
            Output.line("would accept it, as far as a token alone can tell")
        }
        Output.line()
        FindingTable.show(verdict.elements("findings"))
        for client in verdict.elements("clients") {
            Output.line()
            let name = client.text("client")
            Output.line("\(name) \(client["usable"] == true ? "would send it" : "would not send it"):")
            FindingTable.show(client.elements("findings"))
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
                let outcome = finding.text("outcome")
                let mark = outcome == "failed" ? "FAILED" : outcome.replacing("-", with: " ")
                return ["  \(mark)", finding.text("check"), details(finding)]
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
