import ArgumentParser
import Emulation
import HTTPEngine
import JSON
import Synchronization
import Understudy

#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif

/// The user's local certificate authority, kept in a folder between starts.
///
/// One file holds key and certificate, so that concurrent starts never mix them: the first to put the file in place has
/// created the authority, the others use it. A copy of the certificate for clients lies next to it.
struct LocalAuthority {
    let authority: CertificateAuthority
    let certificatePath: String

    /// The folder: the given one, else `UNDERSTUDY_CA_DIRECTORY`, else the user's data directory.
    static func folder(_ flag: String?, _ sources: OptionSources) throws -> String {
        if flag?.isEmpty == true { throw Misuse("--directory is empty; leave it out, or give a folder.") }
        if let named = try flag ?? sources.text("ca-directory", flag: nil) { return named }
        let environment = ProcessInfo.processInfo.environment
        // The XDG base directory specification says to ignore relative paths.
        let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 + "/.local/share" }
        let parent = try Misuse.require(
            data ?? home, "there is no HOME to keep the local CA in; name a folder by UNDERSTUDY_CA_DIRECTORY.")
        return parent + "/understudy/ca"
    }

    init(in folder: String) throws {
        let path = folder + "/" + Self.fileName
        authority = try Self.read(path) ?? Self.make(in: folder, path)
        certificatePath = URL(filePath: folder + "/" + Self.certificateName).standardizedFileURL.path
        let known = try? Files.content(of: certificatePath)
        if known != authority.certificatePEM {
            if known != nil {
                Output.complaint(
                    "\(certificatePath) was replaced, since its key was missing. Clients must trust the new one.")
            }
            try Misuse.writing(certificatePath) {
                try Files.put(authority.certificatePEM, at: certificatePath, mode: 0o644)
            }
        }
    }

    static func trust(at url: String, _ sources: OptionSources) throws -> TLSTrust {
        try url.hasPrefix("https:") ? trust(sources) : .system
    }

    /// The authorities that Understudy's own clients trust: the system's and the local one, if it exists.
    static func trust(_ sources: OptionSources) throws -> TLSTrust {
        // Without a folder there is no local authority.
        guard let folder = try? folder(nil, sources), let text = certificate(in: folder) else { return .system }
        do {
            return try TLSTrust(alsoIn: text)
        } catch {
            throw Misuse("\(folder)/\(certificateName): \(error)")
        }
    }

    /// The local certificate that clients of a server must trust; `nil` if they trust the server without it, or it cannot
    /// be reached.
    static func needed(by url: String) -> String? {
        // Without a folder there is no local authority.
        guard url.hasPrefix("https:"), let folder = try? folder(nil, OptionSources(configurationFile: nil)),
            certificate(in: folder) != nil
        else { return nil }
        let origin = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
        let health = origin.joined(separator: "/") + "/_understudy/health"
        do throws(ClientError) {
            _ = try Waiting.until { () async throws(ClientError) in
                try await HTTPClient.send(url: health, trust: .system, within: .seconds(10))
            }
        } catch {
            if case .notTrusted = error { return folder + "/" + certificateName }
        }
        return nil
    }

    static func certificate(in folder: String) -> [UInt8]? {
        // An unreadable one is not trusted.
        try? Files.content(of: folder + "/" + certificateName)
    }

    private static let fileName = "understudy-ca-key.pem"
    private static let certificateName = "understudy-ca.pem"

    private static func read(_ path: String) throws -> CertificateAuthority? {
        guard FileSystem.holds(path) else { return nil }
        let text = try Files.read(path, "the local CA's file")
        guard let authority = try? CertificateAuthority(certificate: text, privateKey: text) else {
            // Nobody mends it, whatever is wrong.
            throw Misuse("\(path): the local CA is damaged; remove the file, and trust the new one.")
        }
        if let end = authority.end, end <= time(nil) {
            throw Misuse("\(path): the local CA has expired; remove the file, and trust the new one.")
        }
        return authority
    }

    private static func make(in folder: String, _ path: String) throws -> CertificateAuthority {
        do {
            try Files.makeFolder(folder, mode: 0o700)
        } catch {
            throw Misuse("the folder \(folder) for the local CA cannot be created: \(error)")
        }
        let made = try CertificateAuthority()
        // Another start may be faster.
        try Misuse.writing(path) {
            try Files.putFirst(made.privateKeyPEM + made.certificatePEM, at: path, mode: 0o600)
        }
        return try read(path) ?? made
    }
}

/// The system's authorities and the local one. Rebuilt only when the local certificate changes, since that takes many
/// times as long as a handshake.
final class KeptTrust: Sendable {
    private let folder: String?
    private let kept = Mutex<(certificate: [UInt8], trust: TLSTrust)?>(nil)

    init(folder: String?) { self.folder = folder }

    /// The current trust; a damaged local certificate is ignored.
    var current: TLSTrust {
        guard let folder, let certificate = LocalAuthority.certificate(in: folder) else { return .system }
        return kept.withLock { kept in
            if let kept, kept.certificate == certificate { return kept.trust }
            let trust = (try? TLSTrust(alsoIn: certificate)) ?? .system
            kept = (certificate, trust)
            return trust
        }
    }
}

struct AuthorityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ca",
        abstract:
            "Shows the local CA, which issues the certificates of serve --https-port; creates it if needed.",
        discussion: """
            Example: understudy ca

            Clients must trust its certificate, here FILE:
              curl:     curl --cacert FILE https://localhost:8443/_understudy/health
              Python:   REQUESTS_CA_BUNDLE=FILE python app.py
              Node:     NODE_EXTRA_CA_CERTS=FILE node app.js
              iOS:      xcrun simctl keychain booted add-root-cert FILE
              Android:  adb push FILE /sdcard/Download/understudy-ca.crt
                        then, in the emulator's settings, install it as a CA
                        certificate, and have the app's debug build trust user
                        certificates in its network_security_config.

            Whoever has the key beside it can impersonate any server to clients that
            trust the certificate.
            """)

    @Option(
        help:
            "The CA's folder (default: $UNDERSTUDY_CA_DIRECTORY, $XDG_DATA_HOME/understudy/ca or ~/.local/share/understudy/ca).",
        completion: .directory)
    var directory: String?

    @Flag(help: "Print the certificate itself.")
    var pem = false

    @Flag(help: "Write JSON.")
    var json = false

    func run() throws {
        guard !pem || !json else { throw Misuse("--pem and --json are two forms of output; give one of them.") }
        let sources = try OptionSources(configurationFile: nil)
        let local = try LocalAuthority(in: LocalAuthority.folder(directory, sources))
        if pem { return Output.text(local.authority.certificatePEM) }
        let rows = [("certificate", local.certificatePath), ("sha256", local.authority.fingerprint)]
        if json { return Output.json(.object(JSONObject(rows.map { ($0, .string($1)) }))) }
        Output.table(rows.map { [$0, $1] })
    }
}
