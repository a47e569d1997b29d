import Foundation
import HTTPEngine
import JSON
import Testing

@Suite("understudy serve --watch")
struct WatchTests {
    private func health(_ server: RunningServer) async throws -> JSON? {
        let answer = try await HTTPClient.send(url: server.base + "/_understudy/health", within: .seconds(120))
        return try JSON.parse(answer.body)["reload"]
    }

    /// Polls until the condition holds.
    private func wait(_ server: RunningServer, until holds: (JSON?) -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < deadline {
            if holds(try await health(server)) { return }
            try await Program.pause()
        }
        Issue.record("health still says \((try await health(server))?.text ?? "nothing")")
    }

    @Test("a changed file is taken over, a broken one is named in health and log, and the server goes on")
    func watch() async throws {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fixtures")
        let text = try String(contentsOf: repository.appending(path: "rezolve/failures.yaml"), encoding: .utf8)
        let folder = TemporaryFolder()
        try folder.write(text, to: "Fixtures/rezolve/failures.yaml")
        try folder.write("watch: true\n", to: "understudy.yaml")
        let server = try await RunningServer(in: folder)
        let refused = server.base + "/api/v1/partner/317/customer/entity123/wallet"
        #expect(try await health(server)?["watching"] == true)
        try folder.write(text.replacing("Access is denied.", with: "No."), to: "Fixtures/rezolve/failures.yaml")
        try await wait(server) { $0?["count"] == 1 }
        let answer = try await HTTPClient.send(url: refused, within: .seconds(120))
        #expect(try JSON.parse(answer.body)["message"] == "No.")
        try folder.write("failures: 7\n", to: "Fixtures/rezolve/failures.yaml")
        try await wait(server) { $0?["problem"]?.string?.contains("rezolve/failures.yaml:1:11: ") == true }
        #expect(try await HTTPClient.send(url: refused, within: .seconds(120)).body == answer.body)
        try folder.write(text, to: "Fixtures/rezolve/failures.yaml")
        try await wait(server) { $0?["problem"] == .null && $0?["count"] == 2 }
        let end = server.stop()
        #expect(end.status == 0)
        #expect(end.log.contains(" notice The fixtures were reloaded: "))
        #expect(
            end.log.contains(
                " error The fixtures were not reloaded; the old ones stay active. Fixtures/rezolve/failures.yaml:1:11: found the number 7; expected a mapping"
            ), "\(end.log)")
    }

    @Test("a folder that appears later lies over the others from then on")
    func appears() async throws {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fixtures")
        let text = try String(contentsOf: repository.appending(path: "rezolve/failures.yaml"), encoding: .utf8)
        let folder = TemporaryFolder()
        let server = try await RunningServer(["--watch"], in: folder)
        try folder.write(text.replacing("Access is denied.", with: "No."), to: "Fixtures/rezolve/failures.yaml")
        try await wait(server) { $0?["count"] == 1 }
        let answer = try await HTTPClient.send(
            url: server.base + "/api/v1/partner/317/customer/entity123/wallet", within: .seconds(120))
        #expect(try JSON.parse(answer.body)["message"] == "No.")
        // A folder that has gone is reported: otherwise the layer below would silently show through.
        try FileManager.default.removeItem(atPath: folder.path + "/Fixtures")
        try await wait(server) { $0?["problem"]?.string?.contains("the folder of fixtures is gone") == true }
        _ = server.stop()
    }

    @Test("the folders in force are told at the start and in health, with what nobody reads")
    func layers() async throws {
        let folder = TemporaryFolder()
        for path in ["mine.yml", "rezolv/accounts.yaml", "ims/notes.txt", "ims/extra.yaml", "ims/contract/own.hurl"] {
            try folder.write("a: 1\n", to: "Fixtures/" + path)
        }
        let server = try await RunningServer([], in: folder)
        let answer = try await HTTPClient.send(url: server.base + "/_understudy/health", within: .seconds(120))
        let layers = try #require(try JSON.parse(answer.body)["layers"]?.array)
        let own = folder.url.resolvingSymlinksInPath().path + "/Fixtures"
        #expect(layers.count == 2)
        #expect(layers[0]["folder"]?.string == own)
        #expect(
            layers[0]["unread"] == [
                "rezolv/; did you mean “rezolve”?", "ims/extra.yaml", "mine.yml; files of fixtures end in .yaml",
            ], "\(layers[0])")
        #expect(layers[1]["unread"] == [])
        let end = server.stop()
        #expect(end.output.contains("\nFixtures: \(own), over "), "\(end.output)")
        #expect(end.log.contains("understudy: nobody reads \(own)/rezolv/; did you mean “rezolve”?\n"), "\(end.log)")
    }

    @Test("a value of the variable that is neither true nor false stops the start")
    func wrongVariable() throws {
        let run = try Program.run("serve", environment: ["UNDERSTUDY_WATCH": "yes"])
        #expect(run.status == 2)
        #expect(run.complaint == "understudy: UNDERSTUDY_WATCH=yes is not true or false. Set in the environment.\n")
    }
}
