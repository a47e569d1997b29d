import Emulation
import Expectations
import Foundation
import HTTPTypes
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
        for refusal in try await ContractRun.occurrences().flatMap(\.recorded.values) {
            let name = "\(refusal.vendor) \(refusal.failure)"
            if all[name] == nil { all[name] = refusal }
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

    @Test("a redirect that carries no error is no refusal") func redirects() async throws {
        let explainer = Explainer(try Stage.shared().emulator, Settings())
        let line = "curl https://a.example/oauth2/default/v1/authorize?client_id=x"
        var call = try #require(try RecordedCall.all(in: Array(line.utf8)).first)
        for (query, isRefused) in [("code=a&state=b", false), ("error=access_denied", true)] {
            call.answer = RecordedCall.Answer(status: 302, fields: [("location", "app:/back?\(query)")])
            expect((try? explainer.refused(of: [call, call]))?.count, is: isRefused ? 2 : nil)
            let explanation = try await explainer.explain(call, at: Moment(unixSeconds: 1_800_000_000))
            expect(explanation["causes"]?.array?.isEmpty, is: !isRefused, "\(explanation.text)")
        }
    }

    @Test("what a journal's own recording hides is not judged") func hidden() async throws {
        let explainer = Explainer(try Stage.shared().emulator, Settings())
        let token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJtaXJhIn0.***"
        for (line, check) in [
            ("curl https://a.example/oauth2/default/v1/userinfo -H 'authorization: ***'", "token-present"),
            (
                "curl https://a.example/apispaces/b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15/sessions -H 'content-type: application/json' "
                    + #"-d '{"authenticationToken":"\#(token)","authenticationId":"x","deviceId":"d","platform":"p"}'"#,
                "signature-base64url"
            ),
        ] {
            let call = try #require(try RecordedCall.all(in: Array(line.utf8)).first)
            let explanation = try await explainer.explain(call, at: Moment(unixSeconds: 1_800_000_000))
            let open = explanation["open"]?.array?.map { $0["check"]?.string } ?? []
            #expect(open.contains(check), "\(explanation.text)")
            #expect(explanation["broken"]?.text.contains(check) == false, "\(explanation.text)")
        }
    }

    @Test("the control API explains a recorded call, and says what it cannot read") func control() async throws {
        let world = try await World()
        let order: JSON = [
            "recording": "curl https://a.example/app/ims/v1/me -H 'authorization: Bearer x'",
            "answer": ["status": 401, "body": .string(#"{"error":{"code":"token-malformed"}}"#)],
        ]
        let answer = try await world.control(.post, "explain", order.text)
        answer.expect(200)
        expect(answer.json["calls"]?[0]?["route"]?.string, is: "me.get")
        expect(answer.json["calls"]?[0]?["causes"]?[0]?["failure"]?.string, is: "token-malformed", "\(answer.text)")
        #expect(world.sandbox.journal.entries().isEmpty)
        for (order, problem) in [
            (#"{"recording":"curl"}"#, "the recording: "), ("{}", "recording must be a string"),
            (#"{"recording":"GET / HTTP/1.1"}"#, "names no host"),
            (#"{"recording":"curl https://a.example/nowhere"}"#, "no vendor owns the path"),
        ] { try await world.control(.post, "explain", order).expectProblem(400, "invalid", problem) }
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
            var findings = (explanation["broken"]?.array ?? []) + (explanation["open"]?.array ?? [])
            for cause in explanation["causes"]?.array ?? [] { findings += cause["findings"]?.array ?? [] }
            let found = findings.first { $0["check"] == "signature" }?["outcome"]?.string ?? "passed"
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

@Suite("Recordings of calls") struct RecordedCallTests {
    private func read(_ text: String) throws -> RecordedCall {
        try #require(try RecordedCall.all(in: Array(text.utf8)).first)
    }

    /// As Chrome, Firefox, Safari, Charles, Proxyman and Android's tools copy the same call, or nearly.
    private static let copies = [
        #"""
        curl 'https://a.example/ims/v1/trips?x=1' \
          -H 'content-type: application/json' \
          -b 'a=b; c=d' \
          -H 'x-note: it'\''s' \
          --data-raw $'{"note":"it\'s \u00e9 \ud83d\ude00"}' \
          --compressed
        """#,
        #"""
        curl 'https://a.example/ims/v1/trips?x=1' -X POST -H 'Content-Type: application/json' -H $'x-note: it\'s' -H 'Cookie: a=b; c=d' --data-raw $'{"note":"it\'s é 😀"}'
        """#,
        #"""
        curl "https://a.example/ims/v1/trips?x=1" -X "POST" -H "Content-Type: application/json" -H "Cookie: a=b; c=d" -H "x-note: it's" -d "{\"note\":\"it's é 😀\"}"
        """#,
        #"""
        curl -sSkL -XPOST -H'content-type: application/json' -H "x-note: it's" --cookie "a=b; c=d" --data-binary $'{"note":"it\'s é 😀"}' --url https://a.example/ims/v1/trips?x=1 --max-time 5 -o /dev/null
        """#,
    ]

    @Test("a curl command is read as browsers, proxies and Android's tools copy it", arguments: copies)
    func curl(_ text: String) throws {
        let call = try read(text)
        expect(call.request.method, is: .post)
        expect(call.origin + call.request.target, is: "https://a.example/ims/v1/trips?x=1")
        expect(call.request.fields[.contentType], is: "application/json")
        expect(call.request.fields[.cookie], is: "a=b; c=d")
        expect(call.request.fields.first { $0.name == "x-note" }?.value, is: "it's")
        expect(String(decoding: call.request.body, as: UTF8.self), is: #"{"note":"it's é 😀"}"#)
    }

    @Test(
        "options of curl make the request that curl would send",
        arguments: [
            ("curl https://a.example", "GET / "), ("curl -I https://a.example/x", "HEAD /x "),
            ("curl -d a=1 -d b=2 a.example/x", "POST /x a=1&b=2"),
            ("curl -G -d a=1 https://a.example/x", "GET /x?a=1 "),
            ("curl --data-urlencode 'a=b c' https://a.example", "POST / a=b+c"),
            ("curl -u me:secret https://a.example/#top", "GET / "),
        ])
    func options(_ text: String, _ expected: String) throws {
        let request = try read(text).request
        expect("\(request.method) \(request.target) \(String(decoding: request.body, as: UTF8.self))", is: expected)
        if text.contains("-u ") { expect(request.fields[.authorization], is: "Basic bWU6c2VjcmV0") }
    }

    @Test("HTTP as text has the request, and the answer behind it", arguments: ["\n", "\r\n"])
    func text(_ end: String) throws {
        let lines = [
            "POST /ims/v1/trips HTTP/1.1", "Host: a.example", "content-type: application/json", "", "{\"a\":", "1}", "",
            "HTTP/1.1 403 Forbidden", "x: y", "", "{\"message\":\"no\"}", "",
        ]
        let call = try read(lines.joined(separator: end))
        expect(call.origin + call.request.target, is: "https://a.example/ims/v1/trips")
        expect(String(decoding: call.request.body, as: UTF8.self), is: "{\"a\":\n1}")
        expect(call.answer?.status, is: 403)
        expect(call.answer?.body.map { String(decoding: $0, as: UTF8.self) }, is: "{\"message\":\"no\"}")
    }

    @Test(
        "what cannot be read is refused in a sentence with the place",
        arguments: [
            ("", "it is empty"), ("{", "it is not JSON"), ("{}", "no log.entries"),
            (#"{"log":{"entries":[]}}"#, "log.entries is empty"),
            (#"{"log":{"entries":[{}]}}"#, "log.entries[0].request"),
            (#"{"log":{"entries":[{"request":{"method":"GET","url":"/x"}}]}}"#, "log.entries[0].request: the URL"),
            ("curl", "no URL"), ("curl 'https://a.example", "opens in line 1 is not closed"),
            ("curl https://a.example -H", "-H at word 3 has no value"),
            ("curl --bogus https://a.example", "--bogus at word 2"),
            ("curl -F a=b https://a.example", "-F at word 2"), ("curl -d @f https://a.example", "in the file f"),
            ("curl https://a.example https://b.example", "two URLs"),
            ("curl -H nothing a.example", "found no “NAME: VALUE”"),
            ("hello", "line 1 begins neither"), ("GET /x HTTP/1.1\nno field\n\n", "line 2 is not a field"),
        ])
    func unreadable(_ text: String, _ words: String) throws {
        let problem = #expect(throws: RecordingProblem.self) { try read(text) }
        expect(problem?.description.contains(words), is: true, "\(problem?.description ?? "")")
    }

    /// The recordings, with the cause that stands first, its verdict, and what of the call's account is unknown.
    private static let recordings = [
        ("chrome-rezolve-no-device", "masked-missing-fields", "broken"),
        ("mitmproxy-rezolve-algorithm", "masked-signature", "broken"),
        ("firefox-okta-expired", "access-token-expired", "broken"), ("charles-okta-media-type", "media-type", "broken"),
        ("safari-bloomreach-expired", "customer-token-expired", "broken"),
        ("proxyman-bloomreach-gzip", "compressed-body", "broken"),
        ("charles-comapi-no-audience", "missing-audience", "broken"),
        ("chrome-comapi-session-over", "session-expired", "broken"),
        ("proxyman-ims-algorithm", "alg-not-allowed", "broken"), ("mitmproxy-ims-expired", "token-expired", "broken"),
    ]

    private static let folder = Repository.root + "/Tests/UnderstudyTests/Recordings/"

    @Test("a HAR of each tool is read, and its refused call explained", arguments: recordings)
    func tools(_ name: String, _ failure: String, _ verdict: String) async throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(Self.folder)\(name).har"))
        let explainer = Explainer(try Stage.shared().emulator, Settings())
        let calls = try explainer.refused(of: RecordedCall.all(in: Array(bytes)))
        expect(calls.count, is: 1)
        let explanation = try await explainer.explain(#require(calls.first), at: Moment(unixSeconds: 0))
        let cause = try #require(explanation["causes"]?[0], "\(explanation.text)")
        expect(cause["failure"]?.string, is: failure, "\(explanation.text)")
        expect(cause["verdict"]?.string, is: verdict)
        #expect(explanation["at"]?.string?.hasPrefix("2027-03-04T10:00:0") == true)
        // Neither a signature nor a password of the call is shown.
        let text = String(decoding: bytes, as: UTF8.self)
        let signatures = text.matches(of: /eyJ[\w-]*\.[\w-]+\.([\w-]+)/).map { String($0.1) } + ["not-a-real-password"]
        for signature in signatures { #expect(!explanation.text.contains(signature), "\(signature)") }
    }

    @Test("the files are all in the table") func files() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
        expect(Set(files), is: Set(Self.recordings.map { $0.0 + ".har" }))
    }
}
