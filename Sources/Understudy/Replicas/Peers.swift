import Emulation
import HTTPEngine
import HTTPTypes
import JSON

/// The other replicas, as a control call that concerns all of them asks them.
package struct Peers: Sendable {
    /// How long a replica may take to answer.
    private static let timeLimit = Duration.seconds(3)
    /// The longest answer of a replica, in bytes: some 200,000 sandboxes.
    private static let longestAnswer = 128 << 20

    /// What one replica answered.
    struct Answer: Sendable {
        /// Where it was asked.
        let base: String
        /// The JSON, or why there is none.
        let content: Result<JSON, PeerProblem>
    }

    /// Why a replica did not answer.
    struct PeerProblem: Error, CustomStringConvertible {
        let description: String
    }

    /// The URLs that were configured; a name in one stands for all its addresses.
    private let bases: [String]
    private let token: String?
    private let trust: @Sendable () -> TLSTrust

    init(_ bases: [String], token: String?, trust: @escaping @Sendable () -> TLSTrust) {
        self.bases = bases.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        self.token = token
        self.trust = trust
    }

    /// Whether a text is the base URL of a replica: scheme, host and port, nothing else.
    package static func isValid(_ text: String) -> Bool {
        (try? HTTPClient.pathAndQuery(of: text)) == "/" && !text.utf8.contains(UInt8(ascii: "#"))
    }

    /// What every replica answers to a control call, in the order of configuration; this one may be among them.
    ///
    /// - Parameter work: the threads on which names are looked up.
    func answers(to path: String, on work: LongWork) async -> [Answer] {
        await withTaskGroup(of: [Answer].self) { group in
            for base in bases {
                group.addTask {
                    switch await work.run({ Result { () throws(ClientError) in try HTTPClient.everyAddress(of: base) } }
                    ) {
                    case .success(let urls): await ask(urls, path)
                    case .failure(let error):
                        [Answer(base: base, content: .failure(PeerProblem(description: error.description)))]
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }.sorted { $0.base < $1.base }
        }
    }

    private func ask(_ urls: [String], _ path: String) async -> [Answer] {
        await withTaskGroup(of: Answer.self) { group in
            for url in urls { group.addTask { Answer(base: url, content: await content(of: url, path)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func content(of base: String, _ path: String) async -> Result<JSON, PeerProblem> {
        do throws(ClientError) {
            let isSecure = base.lowercased().hasPrefix("https:")
            let answer = try await HTTPClient.send(
                url: base + ControlOperation.prefix + path,
                fields: token.map { [.authorization: "Bearer \($0)"] } ?? [:],
                trust: isSecure ? trust() : .system, within: Self.timeLimit, maximumBody: Self.longestAnswer)
            guard answer.status == .ok, let json = try? JSON.parse(answer.body) else {
                return .failure(PeerProblem(description: "it answered with \(answer.status.code)"))
            }
            return .success(json)
        } catch {
            return .failure(PeerProblem(description: error.description))
        }
    }
}
