import Foundation

extension Understudy {
    /// The sandbox of that name; it comes into being when it is first used.
    ///
    /// - Parameters:
    ///   - name: 1 to 63 of `a-z`, `0-9` and `-`.
    ///   - ttl: After how long unused it goes, whoever forgets to delete it.
    public func sandbox(_ name: String, ttl: Duration? = nil) async throws -> Sandbox {
        guard (1...63).contains(name.utf8.count), name.utf8.allSatisfy(Self.isInNames) else {
            throw InvalidArgument(message: "“\(name)” is not a sandbox name; it has 1 to 63 of a-z, 0-9 and -")
        }
        if let ttl { _ = try await control.sandboxesSet(name: name, .init(ttl: ttl.wire)) }
        guard let baseURL = URL(string: "\(url.absoluteString)/~\(name)") else {
            throw InvalidArgument(message: "\(url.absoluteString)/~\(name) is not a URL")
        }
        let calls = Control(transport: control.transport, sandbox: name)
        return Sandbox(name: name, baseURL: baseURL, control: calls, others: control)
    }

    /// A new sandbox whose name begins like these words, such as a test's name.
    public func sandbox(for words: String, ttl: Duration? = nil) async throws -> Sandbox {
        let parts = words.lowercased().utf8.split { !Self.isInNames($0) || $0 == UInt8(ascii: "-") }
        let start = parts.compactMap { String($0) }.joined(separator: "-").prefix(54)
        // Two tests may differ in punctuation only, and may run side by side.
        let end = String(UInt32.random(in: .min ... .max), radix: 16)
        return try await sandbox("\(start.isEmpty ? "test" : start)-\(end)", ttl: ttl)
    }

    private static func isInNames(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }

    /// Runs a test in a sandbox of its own, which is removed at its end.
    ///
    /// ```swift
    /// try await server.withSandbox { sandbox in
    ///     let token = try await sandbox.mint("rezolve/login", ["expires_in": 900])
    ///     let app = App(backend: sandbox.baseURL, token: token)
    ///     try await sandbox.clock.advance(by: .seconds(16 * 60))
    ///     try await app.readAddresses()
    ///     try await sandbox.expectCalls(.exactly(1), where: ["failure": "token-expired"])
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - words: What the sandbox's name begins like; the calling function's name by default.
    ///   - report: Takes the journal in words when the test throws; by default it goes to the standard error.
    ///   - body: The test.
    /// - Throws: what the body throws, and ``Unreachable``.
    public func withSandbox<Result>(
        _ words: String = #function, report: (String) -> Void = Self.writeToStandardError,
        isolation: isolated (any Actor)? = #isolation, _ body: (Sandbox) async throws -> Result
    ) async throws -> Result {
        // Of a test that crashes nothing may stay in a server that goes on.
        let sandbox = try await sandbox(for: words, ttl: isOwn ? nil : .seconds(2 * 60 * 60))
        do {
            let result = try await body(sandbox)
            await Self.remove(sandbox)
            return result
        } catch {
            report(await Self.words(of: sandbox))
            await Self.remove(sandbox)
            throw error
        }
    }

    /// Writes a text to the standard error.
    public static func writeToStandardError(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }

    // Both in tasks of their own: a test that ran out of time is cancelled, and its calls would be as well.

    private static func words(of sandbox: Sandbox) async -> String {
        await Task {
            do {
                return try await sandbox.journal.describe()
            } catch {
                return "The journal could not be read: \(error)"
            }
        }.value
    }

    private static func remove(_ sandbox: Sandbox) async {
        // A server that is gone has taken its sandboxes along; the test's own error says more.
        await Task { try? await sandbox.delete() }.value
    }
}
