import Dispatch
import HTTPEngine

// As in the program, since it is linked with the options of the release.
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A server with only the engine behind it: external clients exercise features there that no vendor uses.
///
/// Its only argument is a folder. There it writes `authority.pem`, the certificate that clients must trust, and then
/// `ports` with one line per listener, such as `http 49213`. SIGTERM stops it gracefully.
@main
enum EngineProbe {
    static func main() throws {
        Signals.blockTermination()
        let arguments = CommandLine.arguments
        guard arguments.count == 2 else { preconditionFailure("usage: EngineProbe FOLDER") }
        let folder = URL(filePath: arguments[1])
        let authority = try CertificateAuthority()
        let server = try Server(try configuration(authority), handler: ProbeHandler())
        server.start()
        try write(authority.certificatePEM, to: folder.appending(path: "authority.pem"))
        let ports = server.addresses.map { "\($0.scheme) \($0.port)\n" }.joined()
        try write(Array(ports.utf8), to: folder.appending(path: "ports"))
        _ = Signals.waitForTermination()
        stop(server)
    }

    /// Always two loops, so that messages cross from one to the other.
    private static func configuration(_ authority: CertificateAuthority) throws -> ServerConfiguration {
        let issue = try authority.issue(for: ["localhost", "127.0.0.1"])
        let identity = try TLSIdentity(certificateChain: issue.certificateChain, privateKey: issue.privateKey)
        var limits = Limits()
        // A third of the usual, since tests wait for it.
        limits.write = .seconds(10)
        return ServerConfiguration(
            listeners: [.init(port: 0), .init(port: 0, identity: identity)], loops: 2, limits: limits)
    }

    /// Writes a file atomically, since readers wait for its appearance.
    private static func write(_ bytes: [UInt8], to file: URL) throws {
        try Data(bytes).write(to: file, options: .atomic)
    }

    private static func stop(_ server: Server) {
        let ended = DispatchSemaphore(value: 0)
        Task {
            await server.stop(within: .seconds(5))
            ended.signal()
        }
        ended.wait()
    }
}
