import Contracts
import Emulation
import HTTPEngine
import HTTPTypes
import JSON
import Understudy

/// The server under test: an emulator, or a vendor's server.
struct ContractTarget: Sendable {
    /// What the user should know before the first case.
    let note: String?
    private let base: String
    /// Whether it understands control calls and has sandboxes.
    private let isEmulator: Bool
    private let send: ContractRunner.Send

    /// An emulator inside this process, without sockets.
    static func inProcess(_ emulator: Emulator) -> ContractTarget {
        let base = "http://127.0.0.1"
        let access = PipelineAccess(pipeline: Pipeline(emulator), base: base)
        return ContractTarget(note: nil, base: base, isEmulator: true, send: access.answer)
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
            throw error.ending(of: base)
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
    func run(_ file: HurlFile, _ given: ContractVariables) async -> ContractResult {
        let sandbox = isEmulator && base.firstRange(of: "/~") == nil ? Self.sandboxName() : nil
        let root = sandbox.map { "\(base)/~\($0)" } ?? base
        var variables = given
        variables["base"] = .string(root)
        let runner = ContractRunner(
            isPreparation: Self.steersEmulator, leavesOutPreparations: !isEmulator, send: send)
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

    private static func sandboxName() -> String {
        "contract-" + String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// Whether a request is a control call.
    private static func steersEmulator(_ url: String) -> Bool {
        let path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return path.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("_understudy".utf8) }
    }

    /// The journal's explanation of the last exchange, which is the failed one.
    private func explanation(_ root: String) async -> String? {
        // Without a journal the difference must do.
        guard let answer = try? await send(ContractRequest(method: .get, url: root + "/_understudy/journal")),
            let entry = (try? JSON.parse(answer.body))?["entries"]?.array?.last
        else { return nil }
        let words = [entry["failure"]?.string, entry["reason"]?.string].compactMap(\.self)
        return words.isEmpty ? nil : "the journal says: \(words.joined(separator: ": "))"
    }
}
