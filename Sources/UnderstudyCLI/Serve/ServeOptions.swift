import ArgumentParser
import Emulation
import HTTPEngine
import Understudy

/// Whether `serve` also listens on HTTPS, and with which certificate.
struct SecureListenerOptions: ParsableArguments {
    @Option(help: "A port for HTTPS, in addition to --port (default: none); 0 picks a free one.")
    var httpsPort: String?

    @Option(
        help: "A certificate for HTTPS with its issuers, PEM (default: one from the local CA; see understudy ca).",
        completion: .file())
    var tlsCert: String?

    @Option(help: "The private key of that certificate, PEM without a passphrase.", completion: .file())
    var tlsKey: String?

    /// The listener, and the local CA's certificate unless the user supplies one.
    func listener(
        host: String, _ sources: OptionSources
    ) throws -> (listener: ServerConfiguration.Listener, authorityPath: String?)? {
        let port = try sources.port("https-port", flag: httpsPort)
        let certificate = try sources.text("tls-cert", flag: tlsCert)
        let key = try sources.text("tls-key", flag: tlsKey)
        try checkCompleteness(port, certificate, key)
        guard let port else { return nil }
        if let certificate, let key {
            return (.init(host: host, port: port, identity: try identity(certificate, key)), nil)
        }
        let local = try LocalAuthority(in: LocalAuthority.folder(nil, sources))
        return (.init(host: host, port: port, identity: try local.identity(for: host)), local.certificatePath)
    }

    private func checkCompleteness(_ port: Int?, _ certificate: String?, _ key: String?) throws {
        if let certificate, key == nil {
            throw Misuse(
                "the certificate \(certificate) has no key; give it with --tls-key as well, or leave out --tls-cert.")
        }
        if let key, certificate == nil {
            throw Misuse("the key \(key) has no certificate; give it with --tls-cert as well, or leave out --tls-key.")
        }
        if let certificate, port == nil {
            throw Misuse("the certificate \(certificate) needs a port; give one with --https-port, such as 8443.")
        }
    }

    private func identity(_ certificatePath: String, _ keyPath: String) throws -> TLSIdentity {
        let chain = try Files.read(certificatePath, "the certificate")
        let key = try Files.read(keyPath, "the private key")
        do {
            return try TLSIdentity(certificateChain: chain, privateKey: key)
        } catch {
            throw Misuse("\(error.isAboutPrivateKey ? keyPath : certificatePath): \(error)")
        }
    }
}

extension TLSIdentityError {
    /// Whether the key file is at fault, not the certificate file.
    fileprivate var isAboutPrivateKey: Bool {
        switch self {
        case .noPrivateKey, .encryptedPrivateKey, .foreignPrivateKey, .unreadableBlock(_, of: .privateKey): true
        case .noCertificate, .unreadableBlock, .misplacedCertificate, .brokenChain, .weakKey, .weakSignature, .unusable:
            false
        }
    }
}

extension LocalAuthority {
    /// An identity for all names and addresses by which clients reach this machine.
    fileprivate func identity(for host: String) throws -> TLSIdentity {
        let names = ["localhost", "*.localhost", "127.0.0.1", "::1", OperatingSystem.machineName ?? "", host]
        // A machine's name may be unusable in a certificate, and a wildcard address names no machine.
        let usable = names.filter { CertificateAuthority.canName($0) && $0 != "0.0.0.0" && $0 != "::" }
        let distinct = usable.enumerated().filter { !usable[..<$0.offset].contains($0.element) }.map(\.element)
        let issue = try authority.issue(for: distinct)
        return try TLSIdentity(certificateChain: issue.certificateChain, privateKey: issue.privateKey)
    }
}

/// Who may make control calls: the token that `serve` requires, and the host names it accepts.
struct ControlOptions: ParsableArguments {
    @Option(help: "The bearer token that the control API requires, or @FILE (default: none).")
    var controlToken: String?

    @Option(
        help: "A separate port for the control API and the dashboard (default: the vendors' port); 0 picks a free one.")
    var controlPort: String?

    @Option(
        help: ArgumentHelp(
            "Another host name for control calls, such as one that a proxy passes on; may be repeated.",
            discussion: "IP addresses, localhost, names without a dot and --host are always allowed.", valueName: "name"
        ))
    var allowHost: [String] = []

    /// The separate listener for control calls; `nil` when they share that of the vendors.
    func listener(host: String, _ sources: OptionSources) throws -> ServerConfiguration.Listener? {
        try sources.port("control-port", flag: controlPort).map { .init(host: host, port: $0) }
    }

    /// The host names in addition to those that every server accepts.
    func hostNames(listeningAt host: String, _ sources: OptionSources) throws -> Set<String> {
        let names = try sources.texts("allow-host", flags: allowHost)
        for name in names where !Self.isName(name) {
            throw Misuse(
                "--allow-host \(name) is not a host name such as mocks.example.test; leave out scheme and port.")
        }
        return Set(names + [host])
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }

    /// A warning for a server whose token others can read, or that other machines can reach without one; otherwise
    /// `nil`.
    func warning(listeningAt addresses: [BoundAddress], token: String?) -> String? {
        guard token == nil, let address = addresses.first(where: { $0.host != "::1" && !$0.host.hasPrefix("127.") })
        else {
            return OptionSources.warning(ofControlToken: controlToken)
        }
        return """
            Anyone who reaches \(address) can control this server and read its journal: it listens beyond loopback \
            without a --control-token.
            """
    }
}

/// How many sandboxes `serve` keeps, for how long, and whether they are repeatable.
struct SandboxOptions: ParsableArguments {
    @Option(help: "The largest number of sandboxes (default: 20000); beyond it, the longest unused are removed.")
    var sandboxes: String?

    @Option(help: "How long a sandbox may be unused before it is removed, such as 2h (default: no limit).")
    var sandboxTtl: String?

    @Option(
        help:
            "A number that makes ids and times repeatable in every sandbox (default: none); it also freezes the clock.")
    var seed: String?

    func limits(_ sources: OptionSources) throws -> SandboxLimits {
        let capacity = try sources.value(
            "sandboxes", flag: sandboxes, default: SandboxLimits.standardCapacity,
            expected: "a number of sandboxes (from 1)", parse: { Int($0).flatMap { $0 > 0 ? $0 : nil } })
        let timeToLive = try sources.value(
            "sandbox-ttl", flag: sandboxTtl, default: Duration?.none, expected: "a duration such as 90s, 10m or 2h",
            parse: { Duration(text: $0).flatMap { $0 > .zero ? .some($0) : nil } })
        return SandboxLimits(capacity: capacity, timeToLive: timeToLive)
    }

    func seed(_ sources: OptionSources) throws -> UInt64? {
        try sources.value(
            "seed", flag: seed, default: UInt64?.none, expected: "a whole number from 0",
            parse: { Int($0).flatMap(UInt64.init(exactly:)).map { .some($0) } })
    }
}

struct ScenarioOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A scenario to activate in the sandbox “default” at the start; may be repeated, in order of priority.",
            discussion: "understudy routes --scenarios lists them.", valueName: "scenario"),
        completion: .scenarios)
    var scenario: [String] = []

    /// Activates them in the default sandbox; a reset activates them again.
    func activate(in emulator: Emulator, _ sources: OptionSources) throws {
        var scenarios: [Scenario] = []
        for name in try sources.texts("scenario", flags: scenario) {
            guard let scenario = emulator.scenario(name) else {
                let hint = Nearest.hint(to: name, among: emulator.scenarios.map(\.name))
                let origin = scenario.isEmpty ? " (named by UNDERSTUDY_SCENARIO or the configuration file)" : ""
                throw Misuse("no scenario is called \(name)\(hint)\(origin).")
            }
            try Misuse.require(!scenarios.contains(where: { $0 === scenario }), "scenario \(name) is named twice.")
            scenarios.append(scenario)
        }
        emulator.sandboxes.activateInitially(scenarios)
    }
}

extension ServeCommand {
    /// Reads arguments of which each is a flag, or an option followed by its value, as ArgumentParser would.
    ///
    /// - Returns: `nil` when they have another form, or any is unknown.
    init?(plain arguments: some Sequence<String>) {
        let flags: [String: (inout Self, Bool) -> Void] = [
            "--watch": { $0.watch = $1 }, "--until-stdin-closes": { $0.untilStdinCloses = $1 },
            "--print-config": { $0.printConfig = $1 },
        ]
        let texts: [String: (inout Self, String?) -> Void] = [
            "--host": { $0.host = $1 }, "--port": { $0.port = $1 }, "--public-base": { $0.publicBase = $1 },
            "--port-file": { $0.portFile = $1 }, "--log": { $0.log = $1 }, "--record": { $0.record = $1 },
            "--drain": { $0.drain = $1 }, "--control-token": { $0.control.controlToken = $1 },
            "--control-port": { $0.control.controlPort = $1 }, "--sandboxes": { $0.sandboxes.sandboxes = $1 },
            "--sandbox-ttl": { $0.sandboxes.sandboxTtl = $1 }, "--seed": { $0.sandboxes.seed = $1 },
            "--state": { $0.state.database = $1 }, "--state-limit": { $0.state.stateLimit = $1 },
            "--import": { $0.state.importFile = $1 }, "--export-on-exit": { $0.state.exportOnExit = $1 },
            "--https-port": { $0.secure.httpsPort = $1 }, "--tls-cert": { $0.secure.tlsCert = $1 },
            "--tls-key": { $0.secure.tlsKey = $1 }, "--fixtures": { $0.fixtureOptions.fixtures = $1 },
            "--config": { $0.fixtureOptions.config = $1 },
        ]
        let lists: [String: (inout Self, [String]) -> Void] = [
            "--allow-host": { $0.control.allowHost = $1 }, "--scenario": { $0.scenarios.scenario = $1 },
            "--profile": { $0.fixtureOptions.profile = $1 }, "--switch": { $0.fixtureOptions.switches = $1 },
        ]
        var values: [String: [String]] = [:]
        var words = arguments.makeIterator()
        while let word = words.next() {
            if flags[word] != nil {
                values[word] = []
            } else if texts[word] != nil || lists[word] != nil, let value = words.next(), !value.hasPrefix("-") {
                values[word, default: []].append(value)
            } else {
                return nil
            }
        }
        self.init()
        (control, sandboxes, state) = (ControlOptions(), SandboxOptions(), StateOptions())
        (secure, scenarios, fixtureOptions) = (SecureListenerOptions(), ScenarioOptions(), FixtureOptions())
        // Each is set: none can be read before.
        for (name, set) in flags { set(&self, values[name] != nil) }
        for (name, set) in texts { set(&self, values[name]?.last) }
        for (name, set) in lists { set(&self, values[name] ?? []) }
    }
}
