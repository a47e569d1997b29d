import Emulation
import HTTPTypes
import JSON
import Support
import Testing
import Tokens
import Wire

@testable import Bloomreach

@Suite("Bloomreach's rules")
struct RuleExampleTests {
    private static let vendor = Result {
        try Bloomreach(fixtures: VendorFixtures(store: Repository.fixtures, folder: "bloomreach"))
    }

    private static func facts(_ switches: [String: String] = [:]) throws -> BloomreachFacts {
        BloomreachFacts(
            try vendor.get(), BloomreachSwitches(SwitchValues(switches)),
            at: Moment(unixSeconds: Double(World.exampleMoment)))
    }

    // MARK: Callers

    /// A call to a project or stream with this field.
    private static func call(
        _ authorization: String?, access: BloomreachAccess = .app(.customers),
        to address: BloomreachAddress = .project("demo-project-1"), _ switches: [String: String] = [:],
        _ change: (inout BloomreachFacts) -> Void = { _ in }
    ) throws -> BloomreachFacts {
        let accounts = try vendor.get().accounts
        let fields: FieldLines = authorization.map { ["authorization": $0] } ?? [:]
        var presented = BloomreachFacts.Presented(access: access, isPost: true, coding: "identity", fields: fields)
        presented.address = address
        presented.authorization = BloomreachAuthorization(Request(method: .get, target: "/", fields: fields))
        var facts = try facts(switches)
        facts.presented = presented
        facts.project = accounts.project(address.text)
        facts.stream = accounts.stream(address.text)
        if let stream = facts.stream { facts.project = stream.project }
        if case .publicKey(let key) = presented.authorization { facts.publicKey = facts.project?.publicKey(key) }
        if case .token = presented.authorization { facts.bearer = BearerToken(fields) }
        change(&facts)
        return facts
    }

    private static func inTwoLines(_ scheme: String, to address: BloomreachAddress = .project("demo-project-1")) throws
        -> BloomreachFacts
    {
        let fields: FieldLines = ["authorization": "\(scheme) a", "Authorization": "\(scheme) b"]
        return try call("\(scheme) a", to: address) { facts in
            facts.presented = facts.presented.map { old in
                var presented = BloomreachFacts.Presented(
                    access: old.access, isPost: old.isPost, coding: old.coding, fields: fields)
                (presented.address, presented.authorization) = (old.address, old.authorization)
                return presented
            }
            if facts.bearer != nil { facts.bearer = BearerToken(fields) }
        }
    }

    private static func encoded(_ pair: String) -> String { Base64URL.encode(Array(pair.utf8)) }

    @Test("of callers hold and are broken")
    func callers() throws {
        let stream = BloomreachAddress.stream("demo-stream-1")
        let consents = ["consents-method": "get-only"]
        expectExamples(
            of: Bloomreach.callerRules,
            holding: [
                try Self.call("Token pubkey-demo-1"), try Self.call("Bearer a.b.c", to: stream),
                try Self.call("Basic \(Self.encoded("privkey-demo-1:demo-secret-not-real-1"))", access: .privateKey),
                try Self.call(nil, access: .staticContent), try Self.call("Token pubkey-demo-1", access: .appInbox),
            ],
            breaking: [
                "route-offered": try Self.call(nil, access: .open, ["mint-endpoint": "off"]),
                "method": try Self.call(nil, access: .keys(.consents), consents),
                "content-coding": try Self.call(nil) { facts in
                    let old = facts.presented
                    facts.presented = old.map {
                        BloomreachFacts.Presented(
                            access: $0.access, isPost: $0.isPost, coding: "gzip", fields: $0.fields)
                    }
                },
                "project-id": try Self.call(nil, to: .project("a b")),
                "project-known": try Self.call(nil, to: .project("a")),
                "credential-present": try Self.call(nil), "malformed-lines": try Self.inTwoLines("Digest"),
                "credential-form": try Self.call("Digest a"),
                "credential-kind": try Self.call("Token pubkey-demo-1", access: .privateKey),
                "app-inbox-auth": try Self.call(
                    "Token pubkey-demo-1", access: .appInbox, ["app-inbox-auth": "advanced"]),
                "public-key-lines": try Self.inTwoLines("Token"), "public-key": try Self.call("Token other"),
                "private-key": try Self.call("Basic \(Self.encoded("other:other"))"),
                "private-key-secret": try Self.call("Basic \(Self.encoded("privkey-demo-1:other"))"),
                "customer-token-authorization-lines": try Self.inTwoLines("Bearer"),
                "customer-token-bearer-once": try Self.call("Bearer Bearer a"),
                "stream-token-authorization-lines": try Self.inTwoLines("Bearer", to: stream),
                "stream-token-bearer-once": try Self.call("Bearer Bearer a", to: stream),
                "permission": try Self.call("Token pubkey-demo-limited", access: .app(.appinbox)),
            ])
    }

    // MARK: Tokens

    private static func customer(_ text: String) throws -> BloomreachFacts {
        var facts = try facts()
        facts.project = try vendor.get().accounts.project("demo-project-1")
        facts.take(BloomreachToken(text))
        return facts
    }

    private static func stream(_ text: String) throws -> BloomreachFacts {
        var facts = try facts()
        facts.stream = try vendor.get().accounts.stream("demo-stream-1")
        facts.take(BloomreachToken(text))
        return facts
    }

    /// Examples that break the rules shared by both kinds.
    private static func broken(
        _ alg: String, kid: String, ids: String, sound: String,
        token: (_ header: String?, _ claims: String?) throws -> String,
        _ facts: (String) throws -> BloomreachFacts
    ) throws -> [String: BloomreachFacts] {
        func header(_ members: String) throws -> BloomreachFacts { try facts(token("{\(members)}", nil)) }
        func claims(_ members: String) throws -> BloomreachFacts { try facts(token(nil, "{\(members)}")) }
        return try brokenForms(of: sound).mapValues(facts).merging([
            "signature-present": facts(sound.split(separator: ".").prefix(2).joined(separator: ".") + "."),
            "algorithm": header(#""alg":"none""#), "type": header(#""typ":"jwt""#),
            "critical": header(#""crit":[]"#), "key-references": header(#""jku":"https://a.test""#),
            "key-known": header(#""alg":"\#(alg)","typ":"JWT","kid":"other""#), "signature": facts(sound + "A"),
            "secret-mistake": facts(
                token(#""alg":"\#(alg)","typ":"JWT","kid":"\#(kid)","by":"another""#, nil)),
            "claim-exp-present": claims(#""exp":"1""#), "expiry": claims(#""exp":1800000000"#),
            "not-before": claims(#""nbf":1900000000"#), ids: claims(""),
            "milliseconds-exp": claims(#""exp":1800003600000"#), "milliseconds-nbf": claims(#""nbf":1700000000000"#),
        ]) { $1 }
    }

    @Test("of customer tokens hold and are broken")
    func customerTokens() throws {
        let sound = try Forged.customer()
        expectExamples(
            of: Bloomreach.customerTokenRules,
            holding: [try Self.customer(sound), try Self.customer(Forged.customer(claims: #"{"nbf":1800000000}"#))],
            breaking: try Self.broken(
                "HS256", kid: "privkey-demo-1", ids: "claim-sub-ids", sound: sound,
                token: { header, claims in
                    if header?.contains("another") == true { return try Forged.customer(secret: Example.streamSecret) }
                    return try Forged.customer(
                        header: header ?? Forged.customerHeader, claims: claims ?? Forged.anaClaims)
                }, Self.customer))
    }

    @Test("of streams' tokens hold and are broken")
    func streamTokens() throws {
        let sound = try Forged.stream()
        let foreign = #"{"alg":"HS512","typ":"JWT","kid":"signkey-demo-2"}"#
        expectExamples(
            of: Bloomreach.streamTokenRules,
            holding: [try Self.stream(sound), try Self.stream(Forged.stream(claims: #"{"nbf":1800000000}"#))],
            breaking: try Self.broken(
                "HS512", kid: "signkey-demo-1", ids: "claim-ids-ids", sound: sound,
                token: { header, claims in
                    if header?.contains("another") == true { return try Forged.stream(secret: Example.secret) }
                    return try Forged.stream(
                        header: header ?? Forged.streamHeader, claims: claims ?? Forged.streamClaims)
                }, Self.stream
            ).merging(["stream-scope": try Self.stream(Forged.stream(header: foreign))]) { $1 })
    }

    @Test("of a token's ids hold and are broken")
    func binding() {
        let ids = BloomreachIDs(cookie: "a", hard: [])
        expectExamples(
            of: Bloomreach.bindingRules, holding: [BloomreachBinding(owner: ids, ids: ids, isStream: false)],
            breaking: ["token-ids": BloomreachBinding(owner: ids, ids: ids, holds: false, isStream: true)])
    }
}
