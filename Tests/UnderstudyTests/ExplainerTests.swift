import Emulation
import Expectations
import Foundation
import JSON
import Support
import Testing
import Tokens
import Understudy
import Wire

/// A refusal by the emulator, as a recorder of traffic sees it, and the failure that the journal names.
struct RecordedRefusal: Sendable {
    private let entry: JournalEntry
    let failure: String
    let vendor: String
    let sandbox: String
    let reason: String
    let settings: Settings

    init(_ entry: JournalEntry, _ failure: String, in sandbox: Sandbox) {
        (self.entry, self.failure, self.sandbox) = (entry, failure, sandbox.name)
        (vendor, reason, settings) = (entry.record.vendor ?? "", entry.explanation ?? "", sandbox.settings)
    }

    /// - Parameter hidesKeys: whether tokens have signatures by keys that nobody here has; a proof of possession brings
    ///   its own key.
    func har(hidesKeys: Bool) -> [UInt8] {
        func signed(_ text: String) -> String {
            guard hidesKeys else { return text }
            return text.replacing(/(eyJ[\w-]*\.[\w-]+\.)([\w-])/) { "\($0.1)\($0.2 == "A" ? "B" : "A")" }
        }
        func fields(_ fields: [(String, String)]) -> JSON {
            .array(
                fields.map { name, value in
                    ["name": .string(name), "value": .string(name.lowercased() == "dpop" ? value : signed(value))]
                })
        }
        func content(_ bytes: [UInt8], _ change: (String) -> String = { $0 }) -> JSON {
            if let text = String(validating: bytes, as: UTF8.self) { return ["text": .string(change(text))] }
            return ["text": .string(Base64.encode(bytes)), "encoding": "base64"]
        }
        let request: JSON = [
            "method": .string(entry.request.method.rawValue),
            "url": .string(signed("http://localhost:8080/~\(sandbox)\(entry.request.target)")),
            "headers": fields(entry.request.fields.map { ($0.name, $0.value) }),
            "postData": content(entry.request.body, signed),
        ]
        let response: JSON = [
            "status": JSON(entry.response.status.code),
            "headers": fields(entry.response.fields.map { ($0.name.rawName, $0.value) }),
            "content": content(entry.response.body),
        ]
        let call: JSON = ["startedDateTime": .string(entry.moment.rfc3339), "request": request, "response": response]
        return JSON.object(["log": ["entries": [call]]]).bytes
    }

    /// One refusal for each failure that the contract cases of the vendors show.
    static let all = Task { () -> [RecordedRefusal] in
        var all: [String: RecordedRefusal] = [:]
        for file in ContractFile.all {
            for refusal in try await ContractRun.once(file).occurrences.recorded.values {
                let name = "\(refusal.vendor) \(refusal.failure)"
                if all[name] == nil { all[name] = refusal }
            }
        }
        return all.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Some 200 of them, evenly.
    static let sample = Task { () -> [RecordedRefusal] in
        let refusals = try await all.value
        return refusals.enumerated().filter {
            $0.offset * 200 / refusals.count != ($0.offset - 1) * 200 / refusals.count || $0.offset == 0
        }
        .map(\.element)
    }
}

@Suite("Explaining calls of real servers") struct ExplainerTests {
    private struct Score {
        var first = 0
        var amongThree = 0
        var misses: [String] = []
        var time = Duration.zero
    }

    /// - Parameter hidesKeys: whether no key that signed a token is known.
    private func score(_ refusals: [RecordedRefusal], hidesKeys: Bool) async throws -> Score {
        var score = Score()
        for refusal in refusals {
            var explainer = Explainer(try Stage.shared().emulator, refusal.settings)
            (explainer.sandbox, explainer.isGenuine) = (refusal.sandbox, !hidesKeys)
            let call = try #require(try RecordedCall.all(in: refusal.har(hidesKeys: hidesKeys)).first)
            let start = ContinuousClock.now
            let causes = try await explainer.explain(call, at: SandboxClock.machine)["causes"]?.array ?? []
            score.time += .now - start
            let place = causes.firstIndex { $0["failure"]?.string == refusal.failure } ?? .max
            if place == 0 { score.first += 1 }
            if place < 3 { score.amongThree += 1 }
            if place > 0 {
                let names = causes.prefix(4).map { "\($0["failure"]?.string ?? "")=\($0["verdict"]?.string ?? "")" }
                score.misses.append(
                    "\(refusal.vendor) \(refusal.failure): \(place == .max ? "not" : "\(place + 1)th") of \(names), \(refusal.reason)"
                )
            }
        }
        return score
    }

    @Test(
        "the true cause of recorded refusals stands first, without a key that signed in most cases",
        arguments: [false, true])
    func proof(_ hidesKeys: Bool) async throws {
        let refusals = try await RecordedRefusal.sample.value
        let score = try await score(refusals, hidesKeys: hidesKeys)
        let figures =
            "\(refusals.count) refusals: \(score.first) first, \(score.amongThree) among three, \(score.time / refusals.count) each"
        #expect(refusals.count >= 200)
        #expect(
            score.first * 100 >= refusals.count * (hidesKeys ? 80 : 95),
            "\(figures)\n\(score.misses.joined(separator: "\n"))")
        // All but one.
        #expect(
            hidesKeys ? score.amongThree * 100 >= refusals.count * 90 : score.amongThree >= refusals.count - 1,
            "\(figures)\n\(score.misses.joined(separator: "\n"))")
    }

    @Test("a page that is shown again with status 200 is explained by the text on it") func page() async throws {
        let explainer = Explainer(try Stage.shared().emulator, Settings())
        func answered(_ text: String) throws -> RecordedCall {
            let line = "curl https://a.example/activate -d tx=a -d csrf=b -d user_code=AAAAAAAA"
            var call = try #require(try RecordedCall.all(in: Array(line.utf8)).first)
            call.answer = RecordedCall.Answer(
                status: 200, body: Array("<html><p role=\"alert\">\(text)</p></html>".utf8))
            return call
        }
        let (refused, accepted) = (try answered("Invalid code. Try again."), try answered("Device activated"))
        let now = Moment(unixSeconds: 1_800_000_000)
        let explanation = try await explainer.explain(refused, at: now)
        expect(explanation["causes"]?.array?.map { $0["failure"] }, is: ["user-code-invalid"], "\(explanation.text)")
        expect(explanation["causes"]?.array?.map { $0["status"] }, is: [200])
        expect(explanation["note"], is: nil)
        let other = try await explainer.explain(accepted, at: now)
        expect(other["causes"], is: [])
        expect(other["note"], is: "The real server accepted the call.")
        var unknown = accepted
        unknown.answer?.body = nil
        expect(try await explainer.explain(unknown, at: now)["note"], is: "The real server accepted the call.")
        let chosen = try explainer.refused(of: [accepted, refused, unknown])
        expect(chosen.map(\.answer?.body), is: [refused.answer?.body])
    }

    @Test("the control API explains a recorded call, and says what it cannot read") func control() async throws {
        let world = try await World()
        let order: JSON = [
            "recording": "curl https://a.example/app/ims/v1/me -H 'authorization: Bearer x'",
            "answer": ["status": 401, "body": .string(#"{"error":{"code":"token-malformed"}}"#)],
        ]
        let answer = try await world.control(.post, "explain", order.text)
        expect(answer.status, is: 200)
        expect(answer.json["calls"]?[0]?["route"]?.string, is: "me.get")
        expect(answer.json["calls"]?[0]?["causes"]?[0]?["failure"]?.string, is: "token-malformed", "\(answer.text)")
        #expect(world.sandbox.journal.entries().isEmpty)
        try await world.control(.post, "explain", #"{"recording":"curl"}"#).expectProblem(
            400, "invalid", "the recording: ")
        try await world.control(.post, "explain", #"{"recording":"GET / HTTP/1.1"}"#)
            .expectProblem(400, "invalid", "names no host")
        try await world.control(.post, "explain", "{}").expectProblem(400, "invalid", "recording must be a string")
        try await world.control(.post, "explain", #"{"recording":"curl https://a.example/nowhere"}"#)
            .expectProblem(400, "invalid", "no vendor owns the path")
    }

    @Test("a key of the real server decides, and its secret is not shown") func keys() async throws {
        let secret = "an invented secret of sixty-four bytes or more, for this test alone, and nothing else"
        let token = try TokenDraft(
            header: ["auth": "v2", "alg": "HS512", "typ": "JWT"],
            claims: ["rezolve_entity_id": "e", "partner_entity_id": "p", "exp": 1_800_000_900, "device_id": "d"]
        ).mint(key: .secret(secret), algorithm: .hs512, defect: nil, at: 1_800_000_000)
        let text =
            "curl https://a.example/api/v1/partner/9/customer/e/addressbook -H 'x-rezolve-partner-apikey: k' -H 'authorization: Bearer \(token)'"
        let call = try #require(try RecordedCall.all(in: Array(text.utf8)).first)
        for (key, outcome) in [(nil, "not-judged"), (secret, "passed"), ("another " + secret, "failed")]
            as [(String?, String)]
        {
            var explainer = Explainer(try Stage.shared().emulator, Settings())
            explainer.keys = try key.map { [try VerificationKey.secret($0)] } ?? []
            explainer.secrets = [key].compactMap(\.self)
            let explanation = try await explainer.explain(call, at: Moment(unixSeconds: 1_800_000_000))
            let lists =
                ["broken", "open"].flatMap { explanation[$0]?.array ?? [] }
                + (explanation["causes"]?.array ?? []).flatMap { $0["findings"]?.array ?? [] }
            let found = lists.first { $0["check"] == "signature" }?["outcome"]?.string ?? "passed"
            expect(found, is: outcome, "\(explanation.text)")
            #expect(!explanation.text.contains(secret))
        }
    }

    @Test("what only the real server has is named by checks that exist") func outsideChecks() throws {
        for vendor in Catalog.vendors {
            let loaded = try #require(
                try Stage.shared().emulator.vendors.first { $0.identity.id == vendor.identity.id })
            let unlisted = ["sync-token", "rate-limit", "poll-interval"]
            let unknown = Set(loaded.outsideChecks.keys).subtracting(vendor.rules.map(\.check)).subtracting(unlisted)
            expect(unknown, is: [], "\(vendor.identity.id)")
        }
    }
}
