import Emulation
import Expectations
import HTTPTypes
import JSON
import Testing
import Tokens

@Suite("Exported issuer keys") struct IssuerKeysExportTests {
    private func issuer(spares: [String] = []) throws -> IssuerKeys {
        IssuerKeys(
            name: "plain", algorithm: .es256, signing: try .generateEC(.p256, id: "first"),
            spares: try spares.map { try SigningKey.generateEC(.p256, id: $0) })
    }

    private func node(_ json: JSON) -> FixtureNode { FixtureNode(json, from: "export") }

    @Test("without private parts are read by those who have them, and refused by those with others of the same name")
    func otherKey() throws {
        let (fresh, other) = (try issuer(), try issuer())
        expect(try fresh.imported(from: node(fresh.export(.whole)), .whole).keySet, is: fresh.keySet)
        let unknown = #expect(throws: FixtureProblem.self) {
            try other.imported(from: node(fresh.export(.whole)), .whole)
        }
        let complaint = "no private key with the id first is known, and the export has none"
        expect(unknown?.description.contains(complaint), is: true, "\(unknown as Any)")
        let broken = #expect(throws: FixtureProblem.self) {
            let key: JSON = ["kid": "first", "role": "signing", "jwk": ["kty": "EC"]]
            _ = try fresh.imported(from: node(["issuer": "plain", "keys": [key]]), .whole)
        }
        expect(broken?.description.contains("keys[0].jwk: is not a public key as a JWK"), is: true, "\(broken as Any)")
    }

    @Test("draw no spare pair twice", arguments: [StateExtent.changes, .whole])
    func spares(_ extent: StateExtent) throws {
        let fresh = try issuer(spares: ["third", "fourth"])
        var before = fresh
        _ = before.perform(.replace, with: nil, IdentifierSource(seed: 1))
        // Without private parts an export is read over the keys it came from.
        var after = try (extent == .changes ? fresh : before).imported(from: node(before.export(extent)), extent)
        for drill in [KeyDrill.replace, .replace] {
            expect(after.mustWait(for: drill), is: before.mustWait(for: drill))
            _ = before.perform(drill, with: nil, IdentifierSource(seed: 1))
            _ = after.perform(drill, with: nil, IdentifierSource(seed: 1))
            expect(after.keySet, is: before.keySet)
        }
        #expect(after.mustWait(for: .overlap))
        // An earlier state has its spare pairs back.
        let earlier = try after.imported(from: node(fresh.export(.changes)), .changes)
        #expect(!earlier.mustWait(for: .overlap))
    }

    @Test("from releases that did not count spare pairs leave those that are published out")
    func uncountedSpares() throws {
        let fresh = try issuer(spares: ["second", "third"])
        var before = fresh
        _ = before.perform(.sameKID, with: nil, IdentifierSource(seed: 1))
        var uncounted = before.export(.changes).object ?? [:]
        uncounted["used_spares"] = nil
        var after = try fresh.imported(from: node(.object(uncounted)), .changes)
        expect(after.export(.changes), is: before.export(.changes))
        _ = after.perform(.replace, with: nil, IdentifierSource(seed: 1))
        expect(after.published.map(\.key.id), is: ["third"])
    }

    @Test("from releases that kept sixteen old keys bring back the latest of them") func manyOld() throws {
        let fresh = try issuer()
        var many = fresh.export(.changes).object ?? [:]
        let old = try (1...16).map { count -> JSON in
            let key = try SigningKey.generateEC(.p256, id: "old-\(count)")
            return ["kid": JSON(key.id), "role": "old", "private_key": JSON(key.privatePEM)]
        }
        many["keys"] = .array((many["keys"]?.array ?? []) + old)
        let after = try fresh.imported(from: node(.object(many)), .changes)
        expect(after.published.map(\.key.id), is: ["first", "old-1"])
    }

    @Test("need exactly one key that signs") func roles() throws {
        let keys = try issuer()
        let key: JSON = ["kid": "first", "role": "signing"]
        for list in [[key, key], []] as [JSON] {
            let export = node(["issuer": "plain", "keys": list])
            #expect(throws: FixtureProblem.self) { try keys.imported(from: export, .whole) }
        }
    }
}

@Suite("Remote keys") struct RemoteKeysTests {
    private let policy = KeyFetchPolicy()
    private let start = Moment(unixSeconds: 1_800_000_000)

    private static let first = Result { () throws(KeyError) in try SigningKey.generateEC(.p256, id: "first") }

    private func set(_ keys: [JSON]) -> [UInt8] { JSON.object(["keys": .array(keys)]).bytes }

    private func publicKey(_ change: (inout JSONObject) -> Void = { _ in }) throws -> JSON {
        var members = try #require(try Self.first.get().publicJWK(algorithm: .es256)?.object)
        change(&members)
        return .object(members)
    }

    private func remote(_ file: String = "jwks") -> RemoteKeys {
        RemoteKeys(issuer: "i", url: "https://keys.example/\(file)", form: .keySet, algorithm: .es256)
    }

    private func report(
        _ body: [UInt8], status: HTTPResponse.Status = .ok, cacheControl: [String] = []
    ) -> KeyFetchReport {
        remote().report(of: .answered(status, cacheControl: cacheControl, body: body), at: start)
    }

    @Test(
        "live as long as Cache-Control says, within bounds",
        arguments: [
            ([], 600), (["max-age=60"], 60), (["public, Max-Age=60, must-revalidate"], 60), (["max-age=\"60\""], 60),
            (["no-store"], 30), (["max-age=600, no-cache"], 30), (["max-age=5"], 30), (["max-age=0"], 30),
            (["max-age=99999999"], 86_400), (["max-age=99999999999999999999"], 86_400), (["max-age=soon"], 30),
            (["max-age=-1"], 30), (["public"], 600), (["public", "max-age=90"], 90), (["max-age"], 30),
            (["max-age = 60"], 60), (["public , MAX-AGE\t=\t\"60\""], 60), (["max-age=\"\""], 30),
            (["max-age=\"600"], 30), (["max-age=600\""], 30), (["max-age=60, max-age=90"], 60),
            (["no-cache=\"Set-Cookie\", max-age=600"], 30), (["s-maxage=60"], 600), (["max-age=6 0"], 30),
        ] as [([String], Int)])
    func lifetime(_ values: [String], _ seconds: Int) throws {
        var keys = remote()
        keys.take(report(set([try publicKey()]), cacheControl: values), policy)
        expect(keys.expiresAt, is: start + .seconds(seconds))
        expect(keys.fetchedAt, is: start)
    }

    @Test("are at most a hundred, and it is noted when there were more", arguments: [100, 101])
    func overfull(_ count: Int) throws {
        let keys = try (0..<count).map { number in try publicKey { $0["kid"] = .string("key-\(number)") } }
        var reader = PublishedKeysReader(form: .keySet, algorithm: .es256)
        try reader.read(["keys": .array(keys)])
        expect(reader.keys.count, is: 100)
        expect(reader.isOverfull, is: (count > 100))
    }

    @Test("are not replaced by an answer without a usable key") func problems() throws {
        func problem(_ text: String, _ status: HTTPResponse.Status = .ok) -> String? {
            report(Array(text.utf8), status: status).problem?.description
        }
        expect(problem("<html>")?.hasPrefix("the content is not JSON: "), is: true)
        expect(
            problem("[]"), is: "the content is JSON of another form; expected an object with an array “keys” (RFC 7517)"
        )
        expect(problem(#"{"keys":[]}"#), is: "no key in the answer is usable")
        expect(problem("", .found), is: "status 302 is a redirect; redirects are not followed")
        expect(problem("", .created), is: "status 201; expected 200")
        expect(problem("", .internalServerError), is: "status 500; expected 200")
        var keys = remote()
        keys.take(report(set([try publicKey()])), policy)
        keys.take(report([]), policy)
        keys.take(keys.report(of: .failed(.slow(within: KeyRequest.timeLimit)), at: start), policy)
        expect(keys.keys.map(\.id), is: ["first"])
        expect(keys.fetchCount, is: 3)
        expect(keys.lastReport?.problem?.description, is: "the answer was not complete within 5 s")
        expect(keys.lastReport?.status, is: nil)
    }

    @Test("take no report twice, and none of another URL") func strangeReports() throws {
        var keys = remote()
        let report = report(set([try publicKey()]))
        keys.take(report, policy)
        keys.take(report, policy)
        expect(keys.fetchCount, is: 1)
        var other = remote("other")
        other.take(report, policy)
        #expect(other.fetchCount == 0 && other.keys.isEmpty)
    }

    @Test("of a set without end are bounded, and so is what is told of it") func endless() throws {
        let names = (0..<300).map { "key-\($0)" + String(repeating: "x", count: 300) }
        let many = try names.map { name in try publicKey { $0["kid"] = .string(name) } }
        let report = report(set(many + [JSON](repeating: [:], count: 5000)))
        expect(report.keys.count, is: 100)
        expect(report.skipped.count, is: 100)
        let told = "\(report.finding)"
        #expect(told.utf8.count < 5000, "\(told.utf8.count)")
        #expect(told.contains("and 90 more"))
    }

    /// What to do for a token that names the first key at that second.
    private func need(_ keys: RemoteKeys, at second: Int) -> String {
        switch keys.need(naming: "first", at: start + .seconds(second), policy) {
        case .use(let keys): "use \(keys.count)"
        case .fetch: "fetch"
        case .unavailable: "unavailable"
        }
    }

    @Test("are no longer fresh when the clock was set back behind the moment at which they came")
    func clockSetBack() throws {
        var keys = remote()
        keys.take(report(set([try publicKey()]), cacheControl: ["max-age=86400"]), policy)
        // The first two stand for requests that began before the keys arrived and were judged afterwards.
        expect([-1, -30, -31, -40_000].map { need(keys, at: $0) }, is: ["use 1", "use 1", "fetch", "fetch"])
        // No server answers at the earlier time: the keys stay in use, and the next attempt waits for the cool-down.
        keys.take(keys.report(of: .failed(.slow(within: KeyRequest.timeLimit)), at: start + .seconds(-40_000)), policy)
        expect([-39_999, -39_970].map { need(keys, at: $0) }, is: ["use 1", "fetch"])
    }

    @Test("count only what was asked; an attempt that nobody made begins the cool-down all the same")
    func notAsked() throws {
        var keys = remote()
        keys.take(report(set([try publicKey()])), policy)
        expect(keys.fetchCount, is: 1)
        keys.take(keys.report(of: .failed(.notAsked("too often")), at: start + .seconds(600)), policy)
        expect(keys.fetchCount, is: 1)
        expect(keys.lastReport?.finding.found, is: .text("not requested: too often"))
        expect(need(keys, at: 629), is: "use 1", "it does not ask within the cool-down")
    }
}
