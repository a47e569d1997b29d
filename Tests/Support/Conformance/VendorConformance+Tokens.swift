import JSON
import Testing
import Tokens

extension VendorConformance {
    /// The defects of all kinds, each with its failure.
    package var defects: [DefectCase] {
        tokens.flatMap { token in token.defects.map { DefectCase(token: token, name: $0.name, failure: $0.failure) } }
    }

    /// Checks that a token of the kind is accepted.
    package func check(_ token: TokenCase, _ depth: Depth) async throws {
        let answer = try await token.use(try await world(depth), [:])
        #expect((200...399).contains(answer.status), "\(answer.status) \(answer.text)")
        #expect(answer.failure == nil, "\(answer.entry?.explanation ?? "")")
    }

    /// Checks that a token with the defect leads to its failure, and that the reason names the defect.
    package func check(_ defect: DefectCase) async throws {
        let answer = try await defect.token.use(try await world(), ["defect": .string(defect.name)])
        #expect(answer.failure == defect.failure, "\(answer.findings)")
        guard let failure = defect.failure else {
            #expect((200...399).contains(answer.status), "\(answer.status) \(answer.text)")
            return
        }
        let sheet = try FailureSheet.read(id, in: server.fixtures)
        let expected = sheet.answer(failure, route: answer.entry?.record.route ?? "", switches: [:])
        #expect(answer.status == expected.status)
        if !sheet.hasParameters(failure) { #expect(answer.text == expected.text) }
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
        #expect(tokens.map(\.kind) == kinds.map(\.name))
        for (token, kind) in zip(tokens, kinds) {
            let listed = Set(Defect.names + kind.defects).subtracting(["missing-CLAIM"])
            let tested = Set(token.defects.map(\.name) + token.refused)
            #expect(tested.filter { !$0.hasPrefix("missing-") || listed.contains($0) } == listed, "\(id) \(kind.name)")
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
            #expect(minted.status == 400)
            let message = minted.json["error"]?["message"]?.string ?? ""
            if message.isEmpty { Issue.record("\(id) \(kind) \(defect) is refused without a reason: \(minted.text)") }
            return
        }
        let found = try await findings(on: token, of: world, values: isOwn)
        if found == usual[isOwn] {
            Issue.record("\(id) \(kind) \(defect) changes nothing: \(found)")
        }
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
