import ArgumentParser
import Dispatch
import Emulation
import HTTPEngine
import JSON
import Logging
import Understudy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", _superCommandName: "understudy", abstract: "Answers as the vendors' servers would.",
        discussion: """
            Example: understudy serve --port 8080 --profile observed --switch rezolve.device-check=enforce

            Every option can also be set in the configuration file (port: 8080), and every one but --switch in the
            environment (UNDERSTUDY_PORT=8080). A flag overrides the environment, which overrides the file.
            """)

    @Option(help: "The address to listen on (default: 127.0.0.1, and ::1 if there is one).")
    var host: String?

    @Option(help: "The port to listen on (default: 8080); 0 picks a free one.")
    var port: String?

    @Option(
        help: ArgumentHelp(
            "The URL at which clients reach the server, such as https://mocks.example.test, or from-host (default: http://localhost:PORT).",
            discussion: "Tokens and documents name it; with from-host, the host of each request.", valueName: "url"))
    var publicBase: String?

    @Option(
        help:
            "A file for the ports, written once the server accepts connections: one line per listener, such as “http 49213”.",
        completion: .file())
    var portFile: String?

    @Option(
        help: "The format of the request log: text, json or off (default: text).",
        completion: .list(["text", "json", "off"]))
    var log: String?

    @Option(help: "A file to which every exchange is appended, a line of JSON as in the journal.", completion: .file())
    var record: String?

    @Flag(help: "Reload fixture files when they change; if one is wrong, the old fixtures stay active.")
    var watch = false

    @Flag(help: "Stop when the standard input ends, and so with the process that holds a pipe to it.")
    var untilStdinCloses = false

    @Flag(help: "Print every option with its value and where that was set, and exit.")
    var printConfig = false

    @OptionGroup var control: ControlOptions

    @OptionGroup var sandboxes: SandboxOptions

    @OptionGroup var state: StateOptions

    @Option(
        help: ArgumentHelp(
            "How long a stopping server still answers everything while /_understudy/health/ready refuses (default: 0s, with postgres:// 2s).",
            valueName: "duration"))
    var drain: String?

    @OptionGroup var secure: SecureListenerOptions

    @OptionGroup var scenarios: ScenarioOptions

    @OptionGroup var fixtureOptions: FixtureOptions

    /// Prepares the process, before it has threads, and begins what needs no option.
    static func prepare() {
        Descriptors.fillStandard()
        Signals.blockTermination()
        ProcessMemory.returnLargeBuffers()
        ProcessMemory.reserveLess()
        OperatingSystem.startThread { _ = Catalog.vendors }
    }

    func run() throws {
        let sources = try fixtureOptions.sources()
        if printConfig { return Output.table(ConfigurationListing.rows(CommandLine.arguments, sources)) }
        if try sources.isSet("until-stdin-closes", flag: untilStdinCloses) { stopAtEndOfInput() }
        let host = try sources.text("host", flag: host)
        let listener = ServerConfiguration.Listener(
            host: host ?? "127.0.0.1", port: try sources.port("port", flag: port) ?? 8080)
        let secure = try secure.listener(host: listener.host, sources)
        let log = try sources.value(
            "log", flag: log, default: LogForm.text, expected: "a form of log (text, json, off)", parse: LogForm.init)
        let lines = Output.stopWaiting { LineLogHandler.notice(log, ofDropped: $0) }
        LoggingSystem.bootstrap { _ in LineLogHandler(form: log, writer: lines) }
        let fixtures = try fixtureOptions.store(sources)
        let logger = log == .off ? nil : Logger(label: "understudy")
        let record = try sources.text("record", flag: record).map(recordWriter)
        let emulator = try emulator(fixtures, listener, sources, logger, lines, record)
        let awaited = try fixtureOptions.awaitedFolder(sources)
        let watch =
            try sources.isSet("watch", flag: watch)
            ? FixtureWatch(emulator, over: fixtures, awaiting: awaited) : nil
        let files = try state.files(sources)
        let restored = try files.restore(emulator)
        try scenarios.activate(in: emulator, sources)
        let controlListener = try control.listener(host: listener.host, sources)
        let drain = try sources.value(
            "drain", flag: drain, default: emulator.replica == nil ? .zero : .seconds(2),
            expected: "a duration up to 1h such as 5s",
            parse: { Duration(text: $0).flatMap { (.zero...(.seconds(3600))).contains($0) ? $0 : nil } })
        let server = try Server(
            ServerConfiguration(
                listeners: [listener] + [secure?.listener].compactMap(\.self), includesIPv6Loopback: host == nil),
            handler: Pipeline(emulator, as: controlListener == nil ? .everything : .vendors))
        let controlServer = try controlServer(controlListener, beside: server, emulator, host)
        emulator.listens(at: server.addresses)
        Descriptors.raiseLimit()
        server.start()
        controlServer?.start()
        if let watch { keepLooking(watch) }
        let portFile = try sources.text("port-file", flag: portFile)
        if let portFile { try writePorts(server, controlServer, to: portFile) }
        let token = try sources.controlToken(flag: control.controlToken)
        for line in restored { Output.line(line) }
        Banner(
            emulator: emulator, addresses: server.addresses, control: controlServer?.addresses.first,
            authorityPath: secure?.authorityPath, asksForToken: token != nil
        ).show()
        // Not at once: the first calls come now, and need those pages.
        OperatingSystem.startThread {
            usleep(500_000)
            ProcessMemory.releaseCode()
        }
        if let warning = control.warning(listeningAt: (controlServer ?? server).addresses, token: token) {
            if let logger { logger.warning("\(warning)") } else { Output.complaint(warning) }
        }
        end([server, controlServer].compactMap(\.self), emulator, files, after: Signals.waitForTermination(), drain)
        record?.finish(by: .now() + 5)
        // The file must not name a server that is gone. The race with a new server that has just replaced it is
        // accepted.
        if let portFile { unlink(portFile) }
        defer { emulator.keeper?.leave() }
        if let problem = emulator.keeper?.finish() { throw AnswerIsNo(message: "\(problem).") }
        do {
            if let saved = try files.save(emulator) { Output.line(saved) }
        } catch {
            throw AnswerIsNo(message: "\(error). The previous content of the file is unchanged.")
        }
    }

    private func keepLooking(_ watch: FixtureWatch) {
        OperatingSystem.startThread {
            while true {
                usleep(500_000)
                watch.look()
            }
        }
    }

    /// Sends this process SIGTERM at the end of the standard input, and drops what arrives before.
    private func stopAtEndOfInput() {
        OperatingSystem.startThread {
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { bytes in
                var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                var count = 0
                repeat {
                    // The other end may have made the input non-blocking.
                    poll(&input, 1, -1)
                    count = read(STDIN_FILENO, bytes.baseAddress, bytes.count)
                } while count > 0 || count < 0 && (errno == EINTR || errno == EAGAIN)
            }
            kill(getpid(), SIGTERM)
        }
    }

    /// Stops the server, which finishes open requests.
    private func end(
        _ servers: [Server], _ emulator: Emulator, _ files: StateFiles, after signal: Signals.Termination,
        _ drain: Duration
    ) {
        emulator.beginDraining()
        if signal == .interrupt {
            Output.complaint("Stopping; requests in flight have 10 s. Press Control-C again to stop at once.")
        }
        // Saved now and again at the end: a supervisor may lose patience while requests are open. If this fails, the
        // second attempt reports it.
        _ = emulator.keeper?.finish()
        _ = try? files.save(emulator)
        // A second signal means not waiting for open requests. A closing terminal sends more than one.
        let isImpatient = DispatchSemaphore(value: 0)
        OperatingSystem.startThread {
            while Signals.waitForTermination() == .hangUp {}
            isImpatient.signal()
            for server in servers { Task { await server.stop(within: .zero) } }
        }
        _ = isImpatient.wait(timeout: .now() + drain.inSeconds)
        emulator.keeper?.handOverAll()
        Waiting.until {
            await withTaskGroup { group in
                for server in servers { group.addTask { await server.stop(within: .seconds(10)) } }
            }
        }
    }

    /// Control calls are rare, so their listener has one loop.
    private func controlServer(
        _ listener: ServerConfiguration.Listener?, beside server: Server, _ emulator: Emulator, _ host: String?
    ) throws -> Server? {
        guard let listener, let port = server.addresses.first?.port else { return nil }
        return try Server(
            ServerConfiguration(listeners: [listener], loops: 1, includesIPv6Loopback: host == nil),
            handler: Pipeline(emulator, as: .control(vendorPort: port)))
    }

    private func emulator(
        _ store: FixtureStore, _ listener: ServerConfiguration.Listener, _ sources: OptionSources, _ logger: Logger?,
        _ lines: LineWriter, _ record: LineWriter?
    ) throws -> Emulator {
        let limits = try sandboxes.limits(sources)
        let base = try sources.value(
            "public-base", flag: publicBase, default: String?.none,
            expected:
                "from-host, or scheme, host and port such as https://mocks.example.test:8443, without a slash at the end"
        ) { text in PublicBase.isValid(text) ? .some(text) : nil }
        var settings = try fixtureOptions.settings(sources)
        settings.seed = try sandboxes.seed(sources)
        let token = try sources.controlToken(flag: control.controlToken)
        let hostNames = try control.hostNames(listeningAt: listener.host, sources)
        let stateLimit = try state.limit(sources)
        let keeper = try state.keeper(sources)
        let trust = KeptTrust(folder: try? LocalAuthority.folder(nil, sources))
        return try Emulator(
            fixtures: store, settings: settings, controlToken: token, hostNames: hostNames, stateLimit: stateLimit,
            sandboxes: limits, logger: logger, recorder: record?.recorder, publicBase: PublicBase(base),
            droppedLogLines: { lines.droppedLines }, keeper: keeper,
            // Read when keys are fetched over HTTPS: a damaged file must not prevent the start.
            keyTrust: { trust.current })
    }

    private func recordWriter(_ path: String) throws -> LineWriter {
        do {
            return LineWriter(try Files.descriptor(of: path, O_WRONLY | O_CREAT | O_APPEND)) {
                JSON.object(["dropped": JSON($0)]).text
            }
        } catch {
            throw Misuse("--record \(path) cannot be written: \(error); expected the path of a file.")
        }
    }

    private func writePorts(_ server: Server, _ control: Server?, to path: String) throws {
        let named =
            server.addresses.map { ($0.scheme, $0.local) } + (control?.addresses ?? []).map { ("control", $0.local) }
        let lines = named.map { "\($0) \($1.port)\($1.host == "127.0.0.1" ? "" : " \($1.host)")\n" }.joined()
        // Readers waiting for the file must find it complete.
        try Misuse.writing("the port file \(path)", "") { try Files.put(Array(lines.utf8), at: path) }
    }
}

/// The text that `serve` prints once it accepts connections: its addresses, its vendors, and what to do next.
struct Banner {
    let emulator: Emulator
    let addresses: [BoundAddress]
    /// The address for control calls, if they have their own listener.
    let control: BoundAddress?
    /// The local CA's certificate, if it issued the server's.
    let authorityPath: String?
    let asksForToken: Bool

    private var base: String? { addresses.first { !$0.isSecure }.map(url(of:)) }

    private func url(of address: BoundAddress) -> String { "\(address.scheme)://\(address.local)" }

    func show() {
        for address in addresses { Output.line("Understudy \(Emulator.version) at \(address.scheme)://\(address)") }
        showSecureRequest()
        let (base, layers) = (control.map(url) ?? base, emulator.inForce.loaded.layers)
        if let base { Output.line("Dashboard: \(base)/_understudy/") }
        Output.line("Fixtures: \(layers.map(\.folder).joined(separator: ", over "))")
        for warning in layers.flatMap(\.warnings) { Output.complaint("understudy: \(warning)") }
        Output.table(
            emulator.vendors.map { vendor in
                ["  " + vendor.identity.title, "\(vendor.routes.count) routes, \(vendor.failureNames.count) failures"]
            })
        for run in emulator.sandboxes.standard.activeScenarios {
            Output.line("Active scenario: \(run["scenario"]?.string ?? ""), in \(run["state"]?.string ?? "")")
        }
        if let base {
            let server = base == "http://127.0.0.1:8080" ? "" : " --server \(base)"
            Output.line("Calls to try: understudy try\(server)")
            Output.line("Why was a request refused? understudy journal --refused\(server)")
            if asksForToken { Output.line("Both need the control token, in UNDERSTUDY_CONTROL_TOKEN.") }
        }
        if let all = addresses.first(where: { $0.local != $0 }) {
            let family = all.host == "::" ? "IPv6" : "IPv4"
            Output.line("It listens on every \(family) address of this machine; its keys and passwords are public.")
        }
        Output.line("Stop with Control-C.")
    }

    /// Users who supply a certificate know how to trust it, and a port of its own for control calls has none.
    private func showSecureRequest() {
        guard control == nil, let authorityPath, let address = addresses.first(where: \.isSecure) else { return }
        Output.line("  curl --cacert \(Output.quoted(authorityPath)) \(url(of: address))/_understudy/health")
    }
}

/// What `serve --print-config` prints: each option, its value, and where that was set.
enum ConfigurationListing {
    /// A row for each option.
    ///
    /// - Parameter arguments: those of the command, which the parser has accepted.
    static func rows(_ arguments: [String], _ sources: OptionSources) -> [[String]] {
        options.flatMap { option -> [[String]] in
            let isSet = option.standard == "false" && arguments.contains("--\(option.name)")
            let flags = isSet ? ["true"] : arguments.values(of: option.name)
            let flag = flags.isEmpty ? [] : [(value: flags.joined(separator: ", "), place: "flag")]
            let all = flag + sources.settings(of: option.name) + [(option.standard, "default")]
            // These add to those of the file.
            let isAdded = ["profile", "switch"].contains(option.name) && all.count > 1
            return (isAdded ? all.dropLast() : all.prefix(1)).map {
                [option.name, masked($0.value, option.name), $0.place]
            }
        }
    }

    /// The options and their defaults, as the help says them.
    private static var options: [(name: String, standard: String)] {
        let help = UnderstudyCommand.helpMessage(for: ServeCommand.self, columns: 1000)
        let flags = help.split(separator: "\n  --").dropFirst().compactMap { text -> (String, String)? in
            let name = String(text.prefix { $0 != " " && $0 != "\n" })
            guard !["print-config", "version"].contains(name) else { return nil }
            let isFlag = !text.dropFirst(name.count).hasPrefix(" <")
            let standard = text.firstMatch(of: /\(default: ([^)]*)\)/).map { String($0.1) }
            return (name, standard ?? (isFlag ? "false" : "none"))
        }
        // No flag of serve.
        return flags + [("ca-directory", "understudy/ca in $XDG_DATA_HOME or ~/.local/share")]
    }

    private static func masked(_ value: String, _ name: String) -> String {
        if name == "state" { return PostgresAddress.masked(value).place }
        return name != "control-token" || value.hasPrefix("@") || value == "none" ? value : "***"
    }
}
