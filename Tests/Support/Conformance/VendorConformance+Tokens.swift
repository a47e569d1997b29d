import Expectations
package import JSON
import Testing
import Tokens

extension VendorConformance {
    package var defects: [DefectCase] {
        tokens.flatMap { token in token.defects.map { DefectCase(token: token, name: $0.name, failure: $0.failure) } }
    }

    package func check(_ token: TokenCase, _ depth: Depth) async throws {
        let answer = try await token.use(try await world(depth), [:])
        #expect((200...399).contains(answer.status), "\(answer.status) \(answer.text)")
        expect(answer.failure, is: nil, "\(answer.entry?.explanation ?? "")")
    }

    /// Checks that a token with the defect leads to its failure, and that the reason names the defect.
    package func check(_ defect: DefectCase) async throws {
        let answer = try await defect.token.use(try await world(), ["defect": .string(defect.name)])
        expect(answer.failure, is: defect.failure, "\(answer.findings)")
        guard let failure = defect.failure else {
            #expect((200...399).contains(answer.status), "\(answer.status) \(answer.text)")
            return
        }
        let sheet = try FailureSheet.read(id, in: server.fixtures)
        let expected = sheet.answer(failure, route: answer.entry?.record.route ?? "", switches: [:])
        expect(answer.status, is: expected.status)
        if !sheet.hasParameters(failure) { expect(answer.text, is: expected.text) }
        let reason = answer.entry?.explanation ?? ""
        let words = defect.token.words[defect.name].map { [$0] } ?? Self.words(of: defect.name)
        #expect(words.contains { reason.lowercased().contains($0.lowercased()) }, "none of \(words) is in: \(reason)")
    }

    /// Words for a general defect, as one rule or another puts them in a reason.
    private static func words(of defect: String) -> [String] {
        if defect.hasPrefix("missing-") { return [String(defect.dropFirst("missing-".count))] }
        return switch defect {
        case "expired", "string-exp": ["exp"]
        case "not-yet-valid": ["nbf", "not-before"]
        case "wrong-alg", "public-key-as-secret", "alg-hs256": ["alg"]
        case "alg-none": ["alg", "signature-present"]
        case "padded-base64": ["base64"]
        case "two-parts", "four-parts": ["part"]
        case "milliseconds": ["milliseconds"]
        default: ["signature"]
        }
    }

    /// Checks that every kind has a case, and every defect a case or a reasoned refusal to mint it; each minted defect
    /// must change the vendor's findings.
    package func checkTokenCoverage() async throws {
        let world = try await world()
        let kinds = try mounted().tokenKinds
        expect(tokens.map(\.kind), is: kinds.map(\.name))
        for (token, kind) in zip(tokens, kinds) {
            let listed = Set(Defect.names + kind.defects).subtracting(["missing-CLAIM"])
            let tested = Set(token.defects.map(\.name) + token.refused)
            expect(tested.filter { !$0.hasPrefix("missing-") || listed.contains($0) }, is: listed, "\(id) \(kind.name)")
            let sound = try await world.mint("\(id)/\(kind.name)")
            let usual = [
                true: try await findings(on: sound, of: world, values: true),
                false: try await findings(on: sound, of: world, values: false),
            ]
            for name in listed.union(tested).union(Self.missing(in: sound)).sorted() {
                try await checkEffect(of: name, on: kind.name, isOwn: kind.defects.contains(name), usual, in: world)
            }
        }
    }

    private static func missing(in sound: String) -> Set<String> {
        let token = CompactToken(sound)
        let members = (token.header.map(Array.init) ?? []) + (token.claims.map(Array.init) ?? [])
        return Set(members.map { "missing-\($0.name)" })
    }

    private func checkEffect(
        of defect: String, on kind: String, isOwn: Bool, _ usual: [Bool: [String]], in world: World
    ) async throws {
        let order: JSON = ["defect": .string(defect)]
        let minted = try await world.control(.post, "tokens/\(id)/\(kind)", order.text)
        guard minted.status == 200, let token = minted.json["token"]?.string else {
            expect(minted.status, is: 400)
            let message = minted.json["error"]?["message"]?.string ?? ""
            if message.isEmpty { Issue.record("\(id) \(kind) \(defect) is refused without a reason: \(minted.text)") }
            return
        }
        let found = try await findings(on: token, of: world, values: isOwn)
        if found == usual[isOwn] { Issue.record("\(id) \(kind) \(defect) changes nothing: \(found)") }
    }

    /// The vendor's findings on a token.
    ///
    /// - Parameter values: whether found values count, which also differ between tokens; a vendor's own defect may need
    ///   its request to show, but at least changes the token's claims.
    private func findings(on token: String, of world: World, values: Bool) async throws -> [String] {
        let order: JSON = ["token": .string(token), "vendor": .string(id)]
        let verdict = try await world.control(.post, "tokens/explain", order.text).json["verdicts"]?[0] ?? nil
        let claims =
            values
            ? [CompactToken(token).claims.map { JSON.object($0).text } ?? "", verdict["account"]?.text ?? ""] : []
        return [verdict["failure"]?.text ?? ""] + claims
            + (verdict["findings"]?.array ?? []).map { finding in
                let found = finding["found"] ?? nil
                let shown = values ? found.text : "\(found != .null)"
                return
                    "\(finding["check"]?.text ?? "") \(finding["outcome"]?.text ?? "") \(shown) \(finding["note"]?.text ?? "")"
            }
    }
}

/// How a kind of token is minted and used, and the effects of its defects.
package struct TokenCase: Sendable, CustomStringConvertible {
    package let kind: String
    /// Each defect with its failure; `nil` if the vendor tolerates it.
    package let defects: [(name: String, failure: String?)]
    /// Defects that need another key, secret or account than those of the usual order.
    package let refused: [String]
    /// The reason's words for the vendor's own defects, where they differ from the general ones.
    package let words: [String: String]
    /// Mints a token with the members of an order, and sends it where a valid one is accepted.
    package let use: @Sendable (World, JSONObject) async throws -> ReceivedAnswer

    package init(
        _ kind: String, defects: [(String, String?)], refused: [String], words: [String: String] = [:],
        use: @escaping @Sendable (World, JSONObject) async throws -> ReceivedAnswer
    ) {
        self.kind = kind
        self.defects = defects.map { (name: $0.0, failure: $0.1) }
        (self.refused, self.words, self.use) = (refused, words, use)
    }

    package var description: String { kind }

    /// The general defects of a token that a secret has signed, with the failures that they lead to.
    ///
    /// - Parameters:
    ///   - form: for a token that is none.
    ///   - number: for an `exp` that is missing, or no number.
    ///   - others: further defects, and those of these that lead to another failure.
    package static func defects(
        form: String, algorithm: String, signature: String, expired: String, early: String, number: String,
        and others: [String: String?]
    ) -> [(String, String?)] {
        var failures: [String: String?] = ["milliseconds": nil, "fractional-exp": nil]
        let refused = [
            (form, "padded-base64 two-parts four-parts"), (algorithm, "missing-alg wrong-alg alg-none"),
            (signature, "wrong-secret wrong-key tampered-payload bad-signature truncated-signature"),
            (expired, "expired"), (early, "not-yet-valid"), (number, "string-exp missing-exp"),
        ]
        for (failure, names) in refused {
            for name in names.split(separator: " ") { failures[String(name)] = failure }
        }
        return failures.merging(others) { $1 }.map { ($0, $1) }
    }
}

package struct DefectCase: Sendable, CustomStringConvertible {
    let token: TokenCase
    let name: String
    let failure: String?

    package var description: String { "\(token.kind) \(name)" }
}

extension VendorConformance {
    package func check(_ example: SwitchCase) async throws {
        let answer = try await answer(to: example, under: example.value)
        expect(answer.failure, is: example.failure, "\(answer.text)")
        // A failure may be told by a redirect, too.
        if answer.status >= 400 || example.failure == nil {
            expect((200...399).contains(answer.status), is: (example.failure == nil), "\(answer.status) \(answer.text)")
        }
        if let shows = example.shows { #expect(answer.wire.contains(shows), "\(answer.wire)") }
    }

    /// Checks that every switch has the expected defaults and a case for every value, and that for each value one case
    /// is answered differently under another value.
    package func checkSwitchCoverage() async throws {
        let declarations = try mounted().switchDeclarations
        expect(declarations.map { "\($0.name) \($0.documented) \($0.observed)" }, is: profiles)
        expect(Set(switches.map(\.name)), is: Set(declarations.map(\.name)))
        for declaration in declarations {
            let cases = switches.filter { $0.name == declaration.name }
            let tested = Set(cases.map(\.value))
            if case .choice(let values) = declaration.domain { expect(tested, is: Set(values), "\(declaration.name)") }
            #expect(tested.contains(declaration.documented), "\(declaration.name)")
            let isChoice = if case .choice = declaration.domain { true } else { false }
            var idle: Set<String> = []
            for value in tested {
                let cases = cases.filter { $0.value == value }
                if try await !changesSomething(cases, tested.subtracting([value])) { idle.insert(value) }
            }
            // Some values of a number may only test its limits.
            if isChoice ? !idle.isEmpty : idle == tested {
                Issue.record(
                    "\(id): switch \(declaration.name) answers alike with \(idle.sorted()), as far as cases show")
            }
        }
    }

    /// Whether one of a value's cases is answered differently under another value.
    private func changesSomething(_ cases: [SwitchCase], _ others: Set<String>) async throws -> Bool {
        for example in cases {
            let found = try await seen(example, under: example.value)
            for other in others where try await seen(example, under: other) != found { return true }
        }
        return false
    }

    private func seen(_ example: SwitchCase, under value: String) async throws -> [String] {
        let answer = try await answer(to: example, under: value)
        return ["\(answer.status)", answer.failure ?? "", example.shows.map { "\(answer.wire.contains($0))" } ?? ""]
    }

    private func answer(to example: SwitchCase, under value: String) async throws -> ReceivedAnswer {
        let world = try await world()
        try await world.set("\(id).\(example.name)", value)
        return try await example.send(world)
    }
}

package struct SwitchCase: Sendable, CustomStringConvertible {
    /// The switch's name, without its vendor.
    package let name: String
    package let value: String
    /// What is special about the request.
    package let note: String
    /// The failure that the request meets; `nil` for success.
    package let failure: String?
    /// What the answer contains, in status, fields or content.
    package let shows: String?
    package let send: World.Send

    package init(
        _ name: String, _ value: String, note: String = "", failure: String? = nil, shows: String? = nil,
        _ send: @escaping World.Send
    ) {
        (self.name, self.value, self.note) = (name, value, note)
        (self.failure, self.shows, self.send) = (failure, shows, send)
    }

    package var description: String { "\(name) = \(value) \(note)" }
}

extension ReceivedAnswer {
    var wire: String { "\(status)\n" + fields.map { "\($0.name): \($0.value)\n" }.joined() + "\n" + text }
}
