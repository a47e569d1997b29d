import Contracts
import Emulation
import HTTPEngine
import HTTPTypes
import JSON
import Understudy
import Wire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The server under test: an emulator, or a vendor's server.
struct ContractTarget: Sendable {
    let note: String?
    private let base: String
    /// Whether it understands control calls and has sandboxes.
    private let isEmulator: Bool
    private let send: ContractRunner.Send

    static func inProcess(_ emulator: Emulator) -> ContractTarget {
        let pipeline = Pipeline(emulator)
        return ContractTarget(note: nil, base: Pipeline.base, isEmulator: true) {
            (request) async throws(ContractSendingProblem) in try await pipeline.answer(request)
        }
    }

    /// The server at a URL; it is an emulator if its health says so.
    ///
    /// The control token is sent only to an emulator.
    ///
    /// - Throws: ``AnswerIsNo`` when nothing answers there.
    static func server(_ url: String, _ access: ServerAccess, controlToken: String?) throws -> ContractTarget {
        guard !url.utf8.contains(UInt8(ascii: "?")), !url.utf8.contains(UInt8(ascii: "#")) else {
            throw Misuse("--against \(url) has a query or a fragment; leave it out.")
        }
        let base = String(url.reversed().drop { $0 == "/" }.reversed())
        let health = ContractRequest(method: .get, url: base + "/_understudy/health")
        let answer: ClientResponse
        do {
            answer = try Waiting.until { () async throws(ClientError) in try await access.response(health) }
        } catch {
            throw error.ending(of: base, namedBy: "--against")
        }
        if let refusal = refusal(of: answer) { throw Misuse("\(base) refuses control calls: \(refusal)") }
        let isEmulator = answer.status == .ok && isHealth(answer.body)
        if isEmulator { try checkToken(base, access, controlToken) }
        let note =
            "\(base) is not an emulator: control calls are skipped, and variables supply what they would have returned."
        return ContractTarget(note: isEmulator ? nil : note, base: base, isEmulator: isEmulator) {
            (request) async throws(ContractSendingProblem) in
            let isControl = isEmulator && request.url.hasPrefix(base + "/") && steersEmulator(request.url)
            return try await access.answer(request, token: isControl ? controlToken : nil)
        }
    }

    /// Without the token, every case would fail during its preparation.
    private static func checkToken(_ base: String, _ access: ServerAccess, _ token: String?) throws {
        let request = ContractRequest(method: .get, url: base + "/_understudy/clock")
        let answer = try Waiting.until { () async throws(ContractSendingProblem) in
            try await access.answer(request, token: token)
        }
        guard answer.status != HTTPResponse.Status.unauthorized.code else {
            let what = token == nil ? "asks for its control token" : "has another control token"
            throw Misuse("\(base) \(what); give it with --control-token or UNDERSTUDY_CONTROL_TOKEN.")
        }
    }

    /// Why an emulator rejects control calls at that URL, such as for a foreign host name; otherwise it would pass for
    /// a vendor.
    private static func refusal(of answer: ClientResponse) -> String? {
        guard answer.status == .forbidden, let value = try? JSON.parse(answer.body) else { return nil }
        return value["error"]?["code"] == "foreign-host" ? value["error"]?["message"]?.string : nil
    }

    private static func isHealth(_ body: [UInt8]) -> Bool {
        // Anything but JSON comes from another kind of server.
        guard let value = try? JSON.parse(body) else { return false }
        return value["status"] == "ok" && value["vendors"]?.array != nil && value["fixtures"]?.string != nil
    }

    /// Runs a file, on an emulator in a sandbox of its own, which is deleted if nothing failed.
    ///
    /// A sandbox named in the URL (`/~NAME`) is used instead.
    ///
    /// - Parameter drift: compares the answers with the vendors' documents.
    func run(_ file: HurlFile, _ given: ContractVariables, comparing drift: Drift?) async -> ContractResult {
        let sandbox = isEmulator && base.firstRange(of: "/~") == nil ? Self.sandboxName() : nil
        let root = sandbox.map { "\(base)/~\($0)" } ?? base
        var variables = given
        variables["base"] = .string(root)
        let runner = ContractRunner(isPreparation: Self.steersEmulator, leavesOutPreparations: !isEmulator) {
            (request) async throws(ContractSendingProblem) in
            let answer = try await send(request)
            if !Self.steersEmulator(request.url) { drift?.note(answer, to: request, below: root) }
            return answer
        }
        var result = await runner.run(file, variables: variables)
        let failed = result.cases.first { !$0.failures.isEmpty }
        if let sandbox, failed == nil {
            // If this fails, the emulator drops the sandbox later.
            _ = try? await send(ContractRequest(method: .delete, url: "\(base)/_understudy/sandboxes/\(sandbox)"))
        }
        // The journal lacks control calls and requests that were not sent.
        let isJournaled = isEmulator && failed.map { !$0.isPreparation && $0.status != nil } == true
        if isJournaled, let explanation = await explanation(root) { result.explain(explanation) }
        return result
    }

    private static func sandboxName() -> String { "contract-" + String(UInt64.random(in: .min ... .max), radix: 36) }

    private static func steersEmulator(_ url: String) -> Bool {
        let path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return path.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("_understudy".utf8) }
    }

    /// The journal's explanation of the last exchange, which is the failed one.
    private func explanation(_ root: String) async -> String? {
        // Without a journal, the difference has to do.
        guard let answer = try? await send(ContractRequest(method: .get, url: root + "/_understudy/journal")),
            let entry = (try? JSON.parse(answer.body))?["entries"]?.array?.last
        else { return nil }
        let words = [entry["failure"]?.string, entry["reason"]?.string].compactMap(\.self)
        return words.isEmpty ? nil : "the journal says: \(words.joined(separator: ": "))"
    }
}

struct ServerAccess: Sendable {
    let trust: TLSTrust
    let limit: Duration

    func response(_ request: ContractRequest, token: String? = nil) async throws(ClientError) -> ClientResponse {
        var fields = request.fields
        if fields[.userAgent] == nil { fields[.userAgent] = "understudy/\(Emulator.version)" }
        if fields[.accept] == nil { fields[.accept] = "*/*" }
        if let token, fields[.authorization] == nil { fields[.authorization] = "Bearer \(token)" }
        return try await HTTPClient.send(
            method: request.method, url: request.url, fields: fields, body: request.body, trust: trust, within: limit,
            maximumBody: 16 << 20)
    }

    func answer(_ request: ContractRequest, token: String?) async throws(ContractSendingProblem) -> ContractAnswer {
        do {
            let response = try await response(request, token: token)
            return ContractAnswer(
                status: response.status.code, fields: response.fields.map { ($0.name, $0.value) }, body: response.body)
        } catch {
            throw ContractSendingProblem(error.description)
        }
    }
}

extension Pipeline {
    fileprivate static let base = "http://127.0.0.1"

    /// Forwards a case's request as the engine would.
    fileprivate func answer(_ message: ContractRequest) async throws(ContractSendingProblem) -> ContractAnswer {
        guard message.url.hasPrefix(Self.base + "/") else {
            throw ContractSendingProblem(
                "only what begins with {{base}} is answered here; name a server with --against")
        }
        var request = Request(
            method: message.method, target: String(message.url.dropFirst(Self.base.count)), authority: "127.0.0.1",
            fields: FieldLines(message.fields.map { ($0.name.rawName, $0.value) }))
        request.bodyExceedsLimit = message.body.count > bodyLimit(for: request)
        request.body = request.bodyExceedsLimit ? [] : message.body
        let response = await response(to: request)
        let body = message.method == .head ? [] : response.body
        if let error = Self.error(of: response.transmission.fault, body) {
            throw ContractSendingProblem(error.description)
        }
        return ContractAnswer(
            status: response.status.code, fields: response.fields.map { ($0.name.rawName, $0.value) }, body: body)
    }

    /// What a client would get instead of the answer.
    private static func error(of fault: Transmission.Fault?, _ body: [UInt8]) -> ClientError? {
        switch fault {
        // Garbage contains no line end, so a client waits for one until the connection closes.
        case .reset, .empty, .garbage: .connectionLost
        case .truncated(let bytes): bytes < body.count ? .connectionLost : nil
        case .drip, nil: nil
        }
    }
}

/// The files of a run: those named, those in the named folders, or those of the fixtures.
enum ContractFiles {
    /// Reads all files before any request is sent, so that a mistake in the last one wastes no run.
    static func read(_ paths: [String], else fixtures: FixtureStore) throws -> [HurlFile] {
        let files = paths.isEmpty ? try inFixtures(fixtures) : try paths.flatMap(named).map(parse)
        guard !files.isEmpty else {
            let place = paths.isEmpty ? "the fixtures have" : "\(paths.joined(separator: ", ")) has"
            throw Misuse("\(place) no contract cases; expected files with names such as sign-in.hurl.")
        }
        return files
    }

    /// The contract cases of the vendors' fixtures, in the catalog's order.
    private static func inFixtures(_ store: FixtureStore) throws -> [HurlFile] {
        try paths(in: store).map { try parse(try store.file($0)) }
    }

    /// Rejects what a run over these fixtures would.
    ///
    /// - Parameter good: the marks of files that were found good before, which are not read again; others are added.
    static func check(_ store: FixtureStore, besides good: inout Set<UInt64>) throws {
        for path in paths(in: store) {
            let file = try store.file(path)
            let mark = FixtureStore.mark(file.path, file.digest)
            if good.contains(mark) { continue }
            _ = try parse(file)
            good.insert(mark)
        }
    }

    private static func paths(in store: FixtureStore) -> [String] {
        Catalog.vendors.map { "\($0.identity.id)/contract" }.flatMap { folder in
            store.names(in: folder).filter(isHurl).map { "\(folder)/\($0)" }
        }
    }

    private static func parse(_ file: FixtureStore.File) throws -> HurlFile {
        try HurlFile(name: file.path, bytes: file.bytes)
    }

    private static func named(_ path: String) throws -> [FixtureStore.File] {
        guard FileSystem.holds(path) else { throw Misuse("there is no file or folder \(path).") }
        guard FileSystem.isFolder(path) else { return [try file(path)] }
        // An unreadable folder has no cases.
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        let folder = path.hasSuffix("/") ? path : path + "/"
        return try names.filter(isHurl).sorted().map { try file(folder + $0) }
    }

    private static func file(_ path: String) throws -> FixtureStore.File {
        FixtureStore.File(path: path, bytes: try Files.read(path, "the contract file"))
    }

    private static func isHurl(_ name: String) -> Bool { name.hasSuffix(".hurl") }
}
