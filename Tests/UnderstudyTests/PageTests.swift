import Foundation
import HTTPTypes
import JSON
import Support
import Testing

@testable import Understudy

/// The page for people; its behavior in a browser is tested in `Tests/Interop`.
@Suite("The page")
struct PageTests {
    private static let browser = [("accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")]

    @Test("is HTML with a policy of its own, for browsers", arguments: Depth.allCases)
    func html(_ depth: Depth) async throws {
        let world = try await World(depth, at: nil)
        let answer = try await world.bare(.get, "/_understudy/", Self.browser)
        #expect(answer.status == 200)
        #expect(answer["content-type"] == "text/html; charset=utf-8")
        #expect(answer["content-security-policy"] == PageFile.policy)
        #expect(answer["x-frame-options"] == "DENY")
        #expect(answer["x-content-type-options"] == "nosniff")
        #expect(answer["referrer-policy"] == "no-referrer")
        #expect(answer.text.contains("<script type=\"module\" src=\"page/app.js\">"))
        try await world.bare(.get, "/_understudy/").expectProblem(404, "no-such-call", "no such control call")
    }

    @Test(
        "is led to from the front door and without the slash, in each sandbox",
        arguments: ["/", "/~some/", "/_understudy", "/~some/_understudy"])
    func door(_ target: String) async throws {
        let world = try await World(at: nil)
        let answer = try await world.bare(.get, target, Self.browser)
        #expect(answer.status == 303)
        #expect(answer["location"] == "_understudy/")
        #expect(try await world.bare(.get, target).status == 404)
    }

    @Test("has every file of its folder, and nothing else")
    func files() throws {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: Repository.root + "/Sources/Understudy/Page/Files")
        #expect(Set(names) == Set(PageFile.all.keys))
        #expect(PageFile.all.values.map(\.bytes.count).reduce(0, +) <= 120_000)
    }

    @Test("a file is sent again only when it changed")
    func unchanged() async throws {
        let world = try await World(at: nil)
        let first = try await world.bare(.get, "/_understudy/page/app.js")
        #expect(first.status == 200)
        #expect(first["content-type"] == "text/javascript; charset=utf-8")
        #expect(first["cache-control"] == "no-cache")
        let tag = try #require(first["etag"])
        let again = try await world.bare(.get, "/_understudy/page/app.js", [("if-none-match", tag)])
        #expect(again.status == 304)
        #expect(again.body.isEmpty)
    }

    @Test("nothing else is served", arguments: ["page/", "page/none.js", "page/../app.js", "page/app.js/", "page"])
    func missing(_ path: String) async throws {
        let world = try await World(at: nil)
        #expect(try await world.bare(.get, "/_understudy/\(path)", Self.browser).status == 404)
    }

    @Test(
        "is refused to pages of other origins like every control call",
        arguments: [("sec-fetch-site", "cross-site"), ("origin", "http://evil.example")])
    func foreign(_ name: String, _ value: String) async throws {
        let world = try await World(.socket, at: nil)
        for path in ["/", "/_understudy/", "/_understudy/page/app.js"] {
            let answer = try await world.bare(.get, path, Self.browser + [(name, value)])
            #expect(answer.status == 403, "\(path)")
        }
    }

    @Test("a listener of vendors takes no control call, and one of control calls no vendor's")
    func roles() async throws {
        let emulator = try Stage.shared().emulator
        let vendors = Pipeline(emulator, as: .vendors)
        let control = Pipeline(emulator, as: .control(vendorPort: 8080))
        func status(_ pipeline: Pipeline, _ target: String) async -> (Int, String?) {
            let response = await pipeline.response(to: .init(method: .get, target: target, authority: "localhost"))
            return (response.status.code, (try? JSON.parse(response.body))?["error"]?["code"]?.string)
        }
        for target in ["/_understudy/health", "/~some/_understudy/journal", "/_understudy/page/app.js"] {
            #expect(await status(vendors, target) == (404, "no-control-here"))
            #expect(await status(control, target).0 == 200)
        }
        #expect(await status(control, "/v2/credentials/ping") == (404, "no-vendor-here"))
        #expect(await status(vendors, "/v2/credentials/ping").1 != "no-vendor-here")
    }
}
