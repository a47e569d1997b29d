package import Emulation
package import HTTPEngine
import HTTPTypes
import Synchronization
import Wire

/// Fetching the keys that issuers publish: here or elsewhere, within the limits of the request.
extension Pipeline {
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
        return await request.send(
            trust: request.isSecure ? emulator.keyTrust() : .system, within: emulator.keyFetchPace.timeLimit)
    }

    /// Requests the keys from this server, in the sandbox that wants them: a normal exchange, with its entry in the
    /// journal.
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

extension KeyRequest {
    package var isSecure: Bool { url.lowercased().hasPrefix("https:") }

    /// Sends the request to the server that the URL names, within the limits of a request for keys.
    ///
    /// - Parameters:
    ///   - trust: whose certificates are trusted over `https`.
    ///   - redirects: how many redirects are followed, all within the time of one request and never to another scheme:
    ///     keys that are requested over TLS must arrive over TLS.
    ///   - limit: the time for everything, redirects included.
    package func send(
        trust: TLSTrust, following redirects: Int = 0, within limit: Duration = Self.timeLimit
    ) async -> KeyAnswer {
        let end = ContinuousClock.now + limit
        var (url, left) = (url, redirects)
        do throws(ClientError) {
            while true {
                let response = try await HTTPClient.send(
                    url: url, fields: fields, trust: trust, within: ContinuousClock.now.duration(to: end),
                    maximumBody: Self.longestBody)
                guard left > 0, let location = response.redirection else {
                    return .answered(
                        response.status, cacheControl: response.fields.values(of: .cacheControl), body: response.body)
                }
                guard let next = Self.target(of: location, from: url) else {
                    return .failed(.notAsked("\(url) redirects to \(location), which is not followed"))
                }
                (url, left) = (next, left - 1)
            }
        } catch {
            return .failed(KeyFetchProblem(error, within: limit))
        }
    }

    /// Where a redirect leads: a URL of the same scheme, or a path on the same server; `nil` otherwise (ours).
    private static func target(of location: String, from url: String) -> String? {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2 else { return nil }
        let (scheme, authority) = (parts[0].lowercased(), parts[2].prefix { $0 != "?" })
        if location.lowercased().hasPrefix(scheme + "//") { return location }
        if location.hasPrefix("//") { return scheme + location }
        return location.hasPrefix("/") ? "\(scheme)//\(authority)\(location)" : nil
    }
}

extension ClientResponse {
    /// Where a redirect sends a GET (RFC 9110 section 15.4); `nil` for any other answer.
    fileprivate var redirection: String? {
        [301, 302, 303, 307, 308].contains(status.code) ? fields.values(of: .location).first : nil
    }
}

extension KeyFetchProblem {
    init(_ error: ClientError, within limit: Duration = KeyRequest.timeLimit) {
        self =
            switch error {
            case .timedOut: .slow(within: limit)
            case .tooLarge: .tooLarge
            case .connectionLost: .connectionLost
            case .invalidURL, .unknownHost, .notReachable, .notTrusted, .tlsFailed, .malformedAnswer, .tooMany,
                .cancelled:
                .unreachable(error.description)
            }
    }
}

/// Limits how often keys are requested from a third party's URL, however many sandboxes want them.
///
/// Each sandbox has its own clock and its own cool-down, so forged tokens in many of them, or a clock that is moved
/// repeatedly, would cause as many requests to one provider. A key server on this machine is the user's own, and gets
/// as many requests as they want.
package final class KeyFetchPace: Sendable {
    /// The pace of this process. ours: a few hundred sandboxes may each send one request at the same time, and a public
    /// provider does not notice the rate after that.
    package static let ofProcess = KeyFetchPace(burst: 300, interval: .milliseconds(100))

    private let burst: Int
    private let interval: Duration
    private let sparesThisMachine: Bool
    /// The time in which the answer to a request over HTTP must be complete.
    let timeLimit: Duration
    /// For each URL, the moment at which its full allowance is restored.
    private let recoveries = Mutex<[String: ContinuousClock.Instant]>([:])
    /// ours: this many URLs have their own allowance; the rest share one, so that the memory is bounded.
    private static let mostURLs = 1000

    /// Creates a pace.
    ///
    /// - Parameters:
    ///   - burst: how many requests a URL allows at once.
    ///   - interval: the time after which one more request is allowed; never zero.
    ///   - sparesThisMachine: whether URLs on this machine are unlimited.
    ///   - timeLimit: the time for the whole answer of another server.
    package init(
        burst: Int, interval: Duration, sparesThisMachine: Bool = true, timeLimit: Duration = KeyRequest.timeLimit
    ) {
        (self.burst, self.interval, self.timeLimit) = (burst, interval, timeLimit)
        self.sparesThisMachine = sparesThisMachine
    }

    /// Counts a request for a URL; `false`, without counting it, when it exceeds the allowance.
    package func admits(_ url: String, at moment: ContinuousClock.Instant) -> Bool {
        if sparesThisMachine, HTTPClient.staysOnThisMachine(url) { return true }
        return recoveries.withLock { recoveries in
            if recoveries[url] == nil, recoveries.count >= Self.mostURLs {
                recoveries = recoveries.filter { $0.value > moment }
            }
            let isOneTooMany = recoveries[url] == nil && recoveries.count >= Self.mostURLs
            let place = isOneTooMany ? "" : url
            let recovery = max(recoveries[place] ?? moment, moment) + interval
            guard moment.duration(to: recovery) <= interval * burst else { return false }
            recoveries[place] = recovery
            return true
        }
    }

    var refusal: String {
        "this process requests a URL at most \(burst) times at once and then once every \(interval), for all sandboxes together"
    }
}
