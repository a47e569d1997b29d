import ArgumentParser
import Emulation
import JSON
import Understudy

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Says why the real server refused a call.",
        discussion: """
            Example: understudy explain checkout.har
            Example: understudy explain --status 403 "curl 'https://api.example.com/…' -H 'authorization: Bearer eyJ…'"
            Example: pbpaste | understudy explain --secret-file secret.txt -

            The call is a HAR, a curl command, or HTTP as text. It is judged here by the vendor's rules, at the time it was
            sent; nothing is sent anywhere, unless --fetch-keys asks the issuer for its public keys. Of several calls in a
            HAR, the refused ones are explained.
            Exit codes: 0 a cause or a broken rule is known, 1 no rule explains the answer, 2 misuse.
            """)

    @OptionGroup var recording: RecordingInput

    @Option(help: "The vendor (default: by the path).", completion: .vendors)
    var vendor: String?

    @Option(help: "The status that was answered, where the input does not say.")
    var status: Int?

    @Option(help: "The content that was answered, or @FILE.")
    var body: String?

    @Option(name: .customLong("header"), help: "A header field that was answered, NAME: VALUE.")
    var headers: [String] = []

    @Option(help: "When it was sent, where the input does not say: Unix seconds or RFC 3339 (default: now).")
    var at: String?

    @Option(help: "A file with the real server's public keys: JWK, JWKS, PEM or DER.", completion: .file())
    var key: String?

    @Option(help: "A file with the HMAC secret; one line break at its end is ignored.", completion: .file())
    var secretFile: String?

    @Option(help: "The real server's own accounts, as VENDOR/accounts.yaml; with --vendor.", completion: .file())
    var accounts: String?

    @Flag(help: "Fetch the keys that the token's issuer publishes.")
    var fetchKeys = false

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var fixtureOptions: FixtureOptions

    func run() throws {
        let explainer = try explainer()
        let now = try MomentOption.parse(at)
        try recording.read { calls in
            var calls = try explainer.refused(of: calls)
            if let status {
                try Misuse.require(
                    (100...599).contains(status), "--status \(status) is no status; expected 100 to 599.")
                let answer = RecordedCall.Answer(status: status, fields: try fields(), body: try answered())
                for index in calls.indices { calls[index].answer = answer }
            } else if body != nil || !headers.isEmpty {
                throw Misuse("--body and --header go with --status.")
            }
            let explanations = try calls.map { call in
                try Waiting.until { () async throws(RecordingProblem) in try await explainer.explain(call, at: now) }
            }
            if json { Output.json(["calls": .array(explanations)]) } else { explanations.forEach(show) }
            let isUnexplained = explanations.contains { call in
                call["answered"] != nil && call.elements("causes").allSatisfy { $0["verdict"] == "held" }
            }
            if isUnexplained { throw AnswerIsNo() }
        }
    }

    private func answered() throws -> [UInt8]? {
        guard let body else { return nil }
        return body.hasPrefix("@") ? try Files.read(String(body.dropFirst()), "the answer") : Array(body.utf8)
    }

    private func fields() throws -> [(name: String, value: String)] {
        try headers.map {
            try Misuse.require(RecordedCall.field($0[...]), "--header \($0) is not of the form NAME: VALUE.")
        }
    }

    private func explainer() throws -> Explainer {
        var files: [String: FixtureStore.File] = [:]
        if let accounts {
            guard let vendor else { throw Misuse("--accounts needs --vendor: the file has the accounts of one.") }
            files["\(vendor)/accounts.yaml"] = FixtureStore.File(
                path: accounts, bytes: try Files.read(accounts, "the accounts file"))
        }
        let emulator = try fixtureOptions.emulator(replacing: files)
        var explainer = Explainer(emulator, emulator.sandboxes.standard.settings)
        explainer.vendor = try vendor.map(emulator.index)
        explainer.isGenuine = accounts != nil || fixtureOptions.fixtures != nil
        explainer.fetchesKeys = fetchKeys
        if let key { explainer.keys = try KeyInput(file: key, secret: nil).keys }
        if let secretFile {
            let text = String(decoding: try Files.read(secretFile, "the secret file"), as: UTF8.self)
            let secret = text.last?.isNewline == true ? String(text.dropLast()) : text
            explainer.keys += try KeyInput(file: nil, secret: secret).keys
            explainer.secrets = [secret]
        }
        return explainer
    }

    // MARK: For people

    private func show(_ call: JSON) {
        func text(_ name: String, of value: JSON) -> String { Output.printable(value.text(name)) }
        let place = call["place"].map { _ in text("place", of: call) + ": " } ?? ""
        Output.line("\(place)\(text("call", of: call)) at \(text("at", of: call))")
        let answered = call["answered"]?.int.map { "the real server answered \($0)" } ?? "no answer is known"
        Output.line("\(text("vendor", of: call)) \(call["route"]?.string ?? "has no route there"): \(answered)")
        if call["note"] != nil { Output.line(text("note", of: call)) }
        let causes = call.elements("causes")
        for (number, cause) in causes.enumerated() where cause["verdict"] != "held" {
            let verdict = Self.verdicts[cause.text("verdict")] ?? ""
            let status = cause["status"]?.int.map { ", \($0)" } ?? ""
            Output.line()
            Output.line(
                "\(number + 1). \(text("failure", of: cause))\(status) – \(verdict): \(text("about", of: cause))")
            if cause["reason"] != nil { Output.line("  \(text("reason", of: cause)) [\(text("source", of: cause))]") }
            FindingTable.show(cause.elements("findings"))
        }
        let held = causes.filter { $0["verdict"] == "held" }.compactMap { $0["failure"]?.string }
        if !held.isEmpty {
            Output.line("\nRuled out, since the call keeps their rules: \(held.joined(separator: ", "))")
        }
        for (name, title) in [("broken", "Also wrong in the call:"), ("open", "Not judged:")] {
            guard let findings = call[name]?.array, !findings.isEmpty else { continue }
            Output.line("\n\(title)")
            FindingTable.show(findings)
        }
        Output.line()
    }

    private static let verdicts = [
        "broken": "the call breaks this rule", "open": "possible, not judged",
        "possible": "possible, no rule was judged",
    ]
}

struct RecordingInput: ParsableArguments {
    @Argument(help: "A file, a curl command, or “-” for standard input.", completion: .file(extensions: ["har"]))
    var input: String

    @Option(help: "The number of the only entry of a HAR to read.")
    var entry: Int?

    /// Works on the calls, and says of a problem with them where they are from.
    func read(_ work: ([RecordedCall]) throws -> Void) throws {
        do {
            let calls = try RecordedCall.all(in: try bytes())
            guard let entry else { return try work(calls) }
            guard calls.indices.contains(entry - 1) else {
                throw Misuse("--entry \(entry): it has \(calls.count) entries, counted from 1.")
            }
            try work([calls[entry - 1]])
        } catch let problem as RecordingProblem {
            throw Misuse("\(isCommand ? "the curl command" : input == "-" ? "standard input" : input): \(problem).")
        }
    }

    private var isCommand: Bool { input.hasPrefix("curl ") }

    private func bytes() throws -> [UInt8] {
        if isCommand { return Array(input.utf8) }
        if input == "-" { return try Files.standardInput() }
        if let size = Files.size(of: input), size > RecordedCall.longest {
            throw Misuse(
                "\(input) has \(size >> 20) MB; expected at most \(RecordedCall.longest >> 20): export fewer calls.")
        }
        return try Files.read(input, "the recording")
    }
}
