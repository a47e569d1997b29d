import Emulation
import HTTPEngine
import HTTPTypes
import Wire

/// Sending the requests that actions ask for: to this machine or to allowed hosts, without redirects, within a time.
extension Emulator {
    /// Sends a request, and records it in the journal.
    ///
    /// - Returns: the answer, or why the request must not be sent.
    func send(
        _ request: OutgoingRequest, of vendor: String, in sandbox: Sandbox
    ) async -> Result<OutgoingAnswer, ActionRefusal> {
        let target: (host: String, authority: String, pathAndQuery: String)
        do throws(ClientError) {
            target = try HTTPClient.destination(of: request.url)
        } catch {
            return .failure(ActionRefusal(error.description, code: request.refusal))
        }
        guard HTTPClient.staysOnThisMachine(request.url) || request.allowedHosts.contains(target.host) else {
            let reason = "the host \(target.host) is neither this machine nor named in a switch that allows it"
            return .failure(ActionRefusal(reason, code: request.refusal))
        }
        let moment = sandbox.now
        // In a task of its own, since the answer counts even when the client has disconnected.
        let (answer, response) = await Task { await exchange(request) }.value
        var record = ExchangeRecord()
        record.vendor = vendor
        record.calledBase = (request.url.lowercased().hasPrefix("https:") ? "https://" : "http://") + target.authority
        if case .failed(let problem) = answer { record.reason = problem.description }
        let fields = [("host", target.authority)] + request.fields.map { ($0.name.rawName, $0.value) }
        let sent = Request(
            method: request.method, target: target.pathAndQuery, authority: target.authority,
            fields: FieldLines(fields), body: request.body)
        sandbox.journal.append(
            JournalEntry(sandbox: sandbox.name, moment: moment, request: sent, response: response, record: record))
        return .success(answer)
    }

    /// The answer, and the response that the journal shows. Without an answer it has the status of a gateway (ours).
    private func exchange(_ request: OutgoingRequest) async -> (OutgoingAnswer, Response) {
        guard keyFetchPace.admits(request.url, at: .now) else {
            return (.failed(OutgoingProblem(.notSent, keyFetchPace.refusal)), .empty(.badGateway))
        }
        do throws(ClientError) {
            // Loading the trusted certificates takes a while the first time, and only TLS needs them.
            let isSecure = request.url.lowercased().hasPrefix("https:")
            let answer = try await HTTPClient.send(
                method: request.method, url: request.url, fields: request.fields, body: request.body,
                trust: isSecure ? keyTrust() : .system, within: OutgoingRequest.timeLimit,
                maximumBody: OutgoingRequest.longestBody)
            var response = Response.empty(answer.status)
            response.body = answer.body
            for field in answer.fields {
                guard let name = HTTPField.Name(field.name) else { continue }
                response.fields.append(HTTPField(name: name, value: field.value))
            }
            return (.answered(answer.status), response)
        } catch {
            return (.failed(OutgoingProblem(error)), .empty(error == .timedOut ? .gatewayTimeout : .badGateway))
        }
    }
}

extension OutgoingProblem {
    /// Why the client returned no answer.
    fileprivate init(_ error: ClientError) {
        let kind: Kind =
            switch error {
            case .unknownHost: .unknownHost
            case .notReachable: .refused
            case .notTrusted, .tlsFailed: .untrusted
            case .timedOut: .slow
            case .tooLarge, .connectionLost, .malformedAnswer: .malformed
            case .invalidURL, .tooMany, .cancelled: .notSent
            }
        self.init(kind, error.description)
    }
}
