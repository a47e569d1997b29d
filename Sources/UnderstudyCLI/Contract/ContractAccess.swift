import Contracts
import HTTPEngine
import HTTPTypes
import Understudy
import Wire

/// Access to a server over HTTP or HTTPS.
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

    /// Sends a case's request.
    func answer(
        _ request: ContractRequest, token: String?
    ) async throws(ContractSendingProblem) -> ContractAnswer {
        do {
            let response = try await response(request, token: token)
            return ContractAnswer(
                status: response.status.code, fields: response.fields.map { ($0.name, $0.value) }, body: response.body)
        } catch {
            throw ContractSendingProblem(error.description)
        }
    }
}

/// Access to an emulator inside this process.
struct PipelineAccess: Sendable {
    let pipeline: Pipeline
    let base: String

    /// Forwards a case's request as the engine would.
    @Sendable func answer(_ message: ContractRequest) async throws(ContractSendingProblem) -> ContractAnswer {
        guard message.url.hasPrefix(base + "/") else {
            throw ContractSendingProblem(
                "only what begins with {{base}} is answered here; name a server with --against")
        }
        var request = Request(
            method: message.method, target: String(message.url.dropFirst(base.count)), authority: "127.0.0.1",
            fields: FieldLines(message.fields.map { ($0.name.rawName, $0.value) }))
        request.bodyExceedsLimit = message.body.count > pipeline.bodyLimit(for: request)
        request.body = request.bodyExceedsLimit ? [] : message.body
        let response = await pipeline.response(to: request)
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
