import Emulation

/// What a first test does: a call that is answered, and refused the second time.
///
/// A vendor's `starter/first-test.yaml` says it, in no language.
struct StarterTest {
    private let vendor: String
    private let kind: String
    private let method: String
    private let path: String
    private let headers: [(name: String, value: String)]
    private let body: String?
    private let route: String
    private let scenario: String
    private let answer: (status: Int, holds: String)
    private let refusal: (status: Int, holds: String)
    private let failure: String

    /// Reads `first-test.yaml` of a vendor.
    init(_ node: FixtureNode, vendor: String) throws(FixtureProblem) {
        let test = try node.mapping("kind", "request", "route", "answer", "scenario", "refusal")
        let request = try test.required("request").mapping("method", "path", "headers", "body")
        let answer = try test.required("answer").mapping("status", "holds")
        let refusal = try test.required("refusal").mapping("failure", "status", "holds")
        self.vendor = vendor
        kind = try test.required("kind").string()
        route = try test.required("route").string()
        scenario = try test.required("scenario").string()
        method = try request.required("method").string()
        path = try request.required("path").string()
        body = try request["body"]?.string()
        var headers: [(name: String, value: String)] = []
        for (name, value) in try request.required("headers").members() { headers.append((name, try value.string())) }
        self.headers = headers
        self.answer = (try answer.required("status").int(), try answer.required("holds").string())
        self.refusal = (try refusal.required("status").int(), try refusal.required("holds").string())
        failure = try refusal.required("failure").string()
    }

    /// What the placeholders of a template stand for.
    func values(in language: StarterLanguage) -> [String: String] {
        [
            "kind": language.literal("\(vendor)/\(kind)"), "method": language.literal(method),
            "path": language.literal(path),
            "headers": headers.map { language.member($0.name, $0.value) }.joined(separator: "\n"),
            "body": language.body(body), "route": language.literal(route), "scenario": language.literal(scenario),
            "answer status": String(answer.status), "answer holds": language.literal(answer.holds),
            "refusal status": String(refusal.status), "refusal holds": language.literal(refusal.holds),
            "failure": language.literal(failure),
        ]
    }
}
