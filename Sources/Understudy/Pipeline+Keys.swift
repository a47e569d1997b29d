import Emulation
import HTTPTypes
import Wire

/// Fetching the keys that issuers publish: here or elsewhere, within the limits of the request.
extension Pipeline {
    /// Fetches keys.
    ///
    /// In a separate task, since others may wait for the result when the client has disconnected.
    func fetch(_ request: KeyRequest, in sandbox: Sandbox) async -> KeyAnswer {
        await Task { await send(request, in: sandbox) }.value
    }

    private func send(_ request: KeyRequest, in sandbox: Sandbox) async -> KeyAnswer {
        if let target = request.ownTarget { return await ask(target, request, in: sandbox) }
        guard emulator.keyFetchPace.admits(request.url, at: .now) else {
            return .failed(.notAsked(emulator.keyFetchPace.refusal))
        }
        // Loading the trusted certificates takes a while the first time, and only TLS needs them.
        return await request.send(trust: request.isSecure ? emulator.keyTrust() : .system)
    }

    /// Asks this server, in the sandbox that wants the keys: a normal exchange, with its entry in the journal.
    private func ask(_ target: String, _ request: KeyRequest, in sandbox: Sandbox) async -> KeyAnswer {
        let fields = FieldLines(request.fields.map { ($0.name.rawName, $0.value) })
        let inner = Request(method: .get, target: target, authority: "localhost", fields: fields)
        let response = await vendorResponse(to: inner, in: sandbox)
        if let problem = await problem(of: response) { return .failed(problem) }
        if response.body.count > KeyRequest.longestBody { return .failed(.tooLarge) }
        let cacheControl = response.fields.filter { $0.name == .cacheControl }.map(\.value)
        return .answered(response.status, cacheControl: cacheControl, body: response.body)
    }

    /// The failure that a client would see if the response is sent as it specifies, after the same time.
    private func problem(of response: Response) async -> KeyFetchProblem? {
        let transmission = response.transmission
        var time = transmission.delay
        if case .drip(let bytes, let interval)? = transmission.fault {
            time += interval * (response.body.count / bytes)
        }
        // The task is never cancelled; cancellation would only shorten the wait.
        if time > .zero { try? await Task.sleep(for: min(time, KeyRequest.timeLimit)) }
        if time >= KeyRequest.timeLimit { return .slow(within: KeyRequest.timeLimit) }
        switch transmission.fault {
        case nil, .drip?: return nil
        case .reset?, .empty?, .truncated?: return KeyFetchProblem(.connectionLost)
        case .garbage?: return KeyFetchProblem(.malformedAnswer)
        }
    }
}
