import Contracts
import HTTPEngine
import HTTPTypes
import Understudy
import Wire

/// The way to a server over HTTP or HTTPS.
struct ServerAccess: Sendable {
    let trust: TLSTrust
    let limit: Duration
    let controlToken: String?

    /// Sends a request.
    func response(_ request: ContractRequest) async throws(ClientError) -> ClientResponse {
        var fields = request.fields
        if fields[.userAgent] == nil { fields[.userAgent] = "understudy/\(Emulator.version)" }
        if fields[.accept] == nil { fields[.accept] = "*/*" }
        if let controlToken, fields[.authorization] == nil, request.url.contains("/_understudy/") {
            fields[.authorization] = "Bearer \(controlToken)"
        }
        return try await HTTPClient.send(
            method: request.method, url: request.url, fields: fields, body: request.body, trust: trust, within: limit,
            maximumBody: 16 << 20)
    }

    /// Sends a request of a case.
    @Sendable func answer(_ request: ContractRequest) async throws(ContractSendingProblem) -> ContractAnswer {
        do {
            let response = try await response(request)
            return ContractAnswer(
                status: response.status.code, fields: response.fields.map { ($0.name, $0.value) }, body: response.body)
        } catch {
            throw ContractSendingProblem(error.description)
        }
    }
}

/// The way to an emulator inside this process.
struct PipelineAccess: Sendable {
    let pipeline: Pipeline
    let base: String

    /// Hands a request of a case over, as the engine would.
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
        return ContractAnswer(
            status: response.status.code, fields: response.fields.map { ($0.name.rawName, $0.value) },
            body: response.body)
    }
}
