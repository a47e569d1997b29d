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
        #"""
        curl -G --json $'{"note":"it\'s é 😀"}' https://a.example/nowhere --url 'https://a.example/ims/v1/trips'
        """#,
    ]

    @Test("a curl command is read as browsers, proxies and Android's tools copy it", arguments: copies.dropLast())
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
        do {
            _ = try read(text)
            Issue.record("\(text) was read")
        } catch let problem as RecordingProblem {
            #expect(problem.description.contains(words), "\(problem)")
        }
    }

    /// The recordings, with the cause that stands first, its verdict, and what of the call's account is unknown.
    private static let recordings = [
        ("chrome-rezolve-no-device", "masked-missing-fields", "broken"),
        ("mitmproxy-rezolve-algorithm", "masked-signature", "broken"),
        ("firefox-okta-expired", "access-token-expired", "broken"),
        ("charles-okta-media-type", "media-type", "broken"),
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
        let call = try #require(calls.first)
        let explanation = try await explainer.explain(call, at: Moment(unixSeconds: 0))
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
