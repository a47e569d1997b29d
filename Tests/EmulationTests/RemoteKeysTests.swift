import Emulation
import HTTPTypes
import JSON
import Testing
import Tokens

@Suite("Remote keys")
struct RemoteKeysTests {
    private let policy = KeyFetchPolicy()
    private let start = Moment(unixSeconds: 1_800_000_000)

    private static let first = Result { () throws(KeyError) in try SigningKey.generateEC(.p256, id: "first") }

    private func set(_ keys: [JSON]) -> [UInt8] { JSON.object(["keys": .array(keys)]).bytes }

    private func publicKey(_ change: (inout JSONObject) -> Void = { _ in }) throws -> JSON {
        var members = try #require(try Self.first.get().publicJWK(algorithm: .es256)?.object)
        change(&members)
        return .object(members)
    }

    private func remote(_ form: RemoteKeys.Form = .keySet) -> RemoteKeys {
        RemoteKeys(issuer: "i", url: "https://keys.example/jwks", form: form, algorithm: .es256)
    }

    private func report(
        _ body: [UInt8], status: HTTPResponse.Status = .ok, cacheControl: [String] = [],
        form: RemoteKeys.Form = .keySet
    ) -> KeyFetchReport {
        remote(form).report(of: .answered(status, cacheControl: cacheControl, body: body), at: start)
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
        #expect(keys.expiresAt == start + .seconds(seconds))
        #expect(keys.fetchedAt == start)
    }

    @Test("leave out what cannot be used, and say why")
    func skipped() throws {
        let small = try publicKey { $0["use"] = "enc" }
        let other = try publicKey { $0["alg"] = "ES384" }
        let secret: JSON = ["kty": "oct", "k": "AAAA", "kid": "secret"]
        let report = report(set([small, other, secret, 7, try publicKey(), try publicKey()]))
        #expect(report.problem == nil)
        #expect(report.keys.map(\.id) == ["first"])
        #expect(report.skipped.count == 5, "\(report.skipped)")
        #expect(report.finding.outcome == .passed)
        #expect(report.finding.note?.contains("“secret”: a shared secret (oct); expected a public key") == true)
    }

    @Test("are at most a hundred, and it is noted when there were more", arguments: [100, 101])
    func overfull(_ count: Int) throws {
        let keys = try (0..<count).map { number in try publicKey { $0["kid"] = .string("key-\(number)") } }
        var reader = PublishedKeysReader(form: .keySet, algorithm: .es256)
        try reader.read(["keys": .array(keys)])
        #expect(reader.keys.count == 100)
        #expect(reader.isOverfull == (count > 100))
    }

    @Test("are not replaced by an answer without a usable key")
    func problems() throws {
        func problem(_ text: String, _ status: HTTPResponse.Status = .ok) -> String? {
            report(Array(text.utf8), status: status).problem?.description
        }
        #expect(problem("<html>")?.hasPrefix("the content is not JSON: ") == true)
        #expect(
            problem("[]") == "the content is JSON of another form; expected an object with an array “keys” (RFC 7517)")
        #expect(problem(#"{"keys":[]}"#) == "no key in the answer can be used")
        #expect(problem("", .found) == "status 302 sends elsewhere; redirects are not followed")
        #expect(problem("", .created) == "status 201; expected 200")
        #expect(problem("", .internalServerError) == "status 500; expected 200")
        var keys = remote()
        keys.take(report(set([try publicKey()])), policy)
        keys.take(report([]), policy)
        keys.take(keys.report(of: .failed(.slow(within: KeyRequest.timeLimit)), at: start), policy)
        #expect(keys.keys.map(\.id) == ["first"])
        #expect(keys.fetchCount == 3)
        #expect(keys.lastReport?.problem?.description == "the answer was not complete within 5 s")
        #expect(keys.lastReport?.status == nil)
    }

    @Test("take no report twice, and none of another URL")
    func strangeReports() throws {
        var keys = remote()
        let report = report(set([try publicKey()]))
        keys.take(report, policy)
        keys.take(report, policy)
        #expect(keys.fetchCount == 1)
        var other = RemoteKeys(issuer: "i", url: "https://keys.example/other", form: .keySet, algorithm: .es256)
        other.take(report, policy)
        #expect(other.fetchCount == 0 && other.keys.isEmpty)
    }

    @Test("of a set without end are bounded, and so is what is told of it")
    func endless() throws {
        let names = (0..<300).map { "key-\($0)" + String(repeating: "x", count: 300) }
        let many = try names.map { name in try publicKey { $0["kid"] = .string(name) } }
        let report = report(set(many + [JSON](repeating: [:], count: 5000)))
        #expect(report.keys.count == 100)
        #expect(report.skipped.count == 100)
        let told = "\(report.finding)"
        #expect(told.utf8.count < 5000, "\(told.utf8.count)")
        #expect(told.contains("and 90 more"))
    }

    @Test("may be certificates by name; anything else than PEM texts is another form")
    func certificates() throws {
        // A bare key is not accepted: certificates state how long they are valid.
        let bare = JSON.object(["a": JSON(try Self.first.get().publicPEM)]).bytes
        #expect(report(bare, form: .certificates).problem == .noUsableKey)
        #expect(
            report(Array(#"{"a":7}"#.utf8), form: .certificates).problem?.description
                == "the content is JSON of another form; expected an object of key ids and PEM certificates")
        let broken = report(Array(#"{"a":"-----BEGIN CERTIFICATE-----"}"#.utf8), form: .certificates)
        #expect(broken.problem == .noUsableKey)
        #expect(broken.skipped.count == 1)
    }

    @Test("are needed anew when they are over, or lack a name, and not within the cool-down")
    func need() throws {
        func isFetch(_ keys: RemoteKeys, _ name: String?, _ seconds: Int) -> Bool {
            if case .fetch = keys.need(naming: name, at: start + .seconds(seconds), policy) { return true }
            return false
        }
        var keys = remote()
        #expect(isFetch(keys, nil, 0))
        keys.take(report(set([try publicKey()])), policy)
        #expect(!isFetch(keys, "first", 0))
        #expect(!isFetch(keys, nil, 599))
        #expect(isFetch(keys, "first", 600))
        #expect(!isFetch(keys, "other", 29))
        #expect(isFetch(keys, "other", 30))
        // The clock was set back by more than the cool-down.
        #expect(isFetch(keys, "other", -31))
        keys.take(keys.report(of: .failed(.slow(within: KeyRequest.timeLimit)), at: start + .seconds(600)), policy)
        #expect(!isFetch(keys, "first", 629))
        #expect(isFetch(keys, "first", 630))
    }

    @Test("serve beyond their lifetime for as long as the policy has it, and then not")
    func staleness() throws {
        var keys = remote()
        func count(_ seconds: Int) -> Int? {
            guard case .use(let keys) = keys.keysInNeed(at: start + .seconds(seconds), policy) else { return nil }
            return keys.count
        }
        #expect(count(0) == nil)
        keys.take(report(set([try publicKey()])), policy)
        #expect(count(600 + 86_399) == 1)
        #expect(count(600 + 86_400) == nil)
        // With the clock set back, the distance to the fetch counts as the age.
        #expect(count(-86_399) == 1)
        #expect(count(-86_400) == nil)
    }

    @Test("are no longer fresh when the clock was set back behind the moment at which they came")
    func clockSetBack() throws {
        func isFetch(_ keys: RemoteKeys, _ seconds: Int) -> Bool {
            if case .fetch = keys.need(naming: "first", at: start + .seconds(seconds), policy) { return true }
            return false
        }
        var keys = remote()
        keys.take(report(set([try publicKey()]), cacheControl: ["max-age=86400"]), policy)
        // Requests that began before the keys arrived and were judged afterwards.
        #expect(!isFetch(keys, -1))
        #expect(!isFetch(keys, -30))
        #expect(isFetch(keys, -31))
        #expect(isFetch(keys, -40_000))
        // No server answers at the earlier time: the keys stay in use, and the next attempt waits for the cool-down.
        keys.take(keys.report(of: .failed(.slow(within: KeyRequest.timeLimit)), at: start + .seconds(-40_000)), policy)
        guard case .use = keys.need(naming: "first", at: start + .seconds(-39_999), policy) else {
            Issue.record("old keys do not serve")
            return
        }
        #expect(isFetch(keys, -39_970))
    }

    @Test("count only what was asked; an attempt that nobody made begins the cool-down all the same")
    func notAsked() throws {
        var keys = remote()
        keys.take(report(set([try publicKey()])), policy)
        #expect(keys.fetchCount == 1)
        keys.take(keys.report(of: .failed(.notAsked("too often")), at: start + .seconds(600)), policy)
        #expect(keys.fetchCount == 1)
        #expect(keys.lastReport?.finding.found == .text("not asked: too often"))
        guard case .use(let old) = keys.need(naming: "first", at: start + .seconds(629), policy) else {
            Issue.record("asks within the cool-down")
            return
        }
        #expect(old.count == 1)
    }
}
