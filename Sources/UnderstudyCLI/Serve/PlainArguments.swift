/// Arguments of which each is a flag or an option followed by its value.
struct PlainArguments {
    private var values: [String: [String]] = [:]

    /// - Returns: `nil` when the arguments have any other form.
    init?(_ arguments: some Sequence<String>, flags: Set<String>) {
        var option: String?
        for argument in arguments {
            let isOption = argument.hasPrefix("--") && argument.utf8.count > 2
            if let name = option {
                if argument.hasPrefix("-") { return nil }
                values[name, default: []].append(argument)
                option = nil
            } else if isOption, flags.contains(argument) {
                values[argument] = []
            } else if isOption {
                option = argument
            } else {
                return nil
            }
        }
        if option != nil { return nil }
    }

    var isEmpty: Bool { values.isEmpty }

    mutating func flag(_ name: String) -> Bool { values.removeValue(forKey: name) != nil }

    mutating func texts(_ name: String) -> [String] { values.removeValue(forKey: name) ?? [] }

    mutating func text(_ name: String) -> String? { texts(name).last }
}

extension ServeCommand {
    /// Reads plain arguments as ArgumentParser would.
    ///
    /// - Returns: `nil` when they have another form, or any is unknown.
    init?(plain arguments: some Sequence<String>) {
        guard var plain = PlainArguments(arguments, flags: ["--watch", "--until-stdin-closes", "--print-config"]) else {
            return nil
        }
        self.init()
        (host, port) = (plain.text("--host"), plain.text("--port"))
        (publicBase, portFile) = (plain.text("--public-base"), plain.text("--port-file"))
        (log, record, drain) = (plain.text("--log"), plain.text("--record"), plain.text("--drain"))
        (watch, untilStdinCloses) = (plain.flag("--watch"), plain.flag("--until-stdin-closes"))
        printConfig = plain.flag("--print-config")
        control = ControlOptions()
        (control.controlToken, control.controlPort) = (plain.text("--control-token"), plain.text("--control-port"))
        control.allowHost = plain.texts("--allow-host")
        sandboxes = SandboxOptions()
        (sandboxes.sandboxes, sandboxes.sandboxTtl) = (plain.text("--sandboxes"), plain.text("--sandbox-ttl"))
        sandboxes.seed = plain.text("--seed")
        state = StateOptions()
        (state.database, state.stateLimit) = (plain.text("--state"), plain.text("--state-limit"))
        (state.importFile, state.exportOnExit) = (plain.text("--import"), plain.text("--export-on-exit"))
        secure = SecureListenerOptions()
        (secure.httpsPort, secure.tlsCert) = (plain.text("--https-port"), plain.text("--tls-cert"))
        secure.tlsKey = plain.text("--tls-key")
        scenarios = ScenarioOptions()
        scenarios.scenario = plain.texts("--scenario")
        fixtureOptions = FixtureOptions()
        (fixtureOptions.fixtures, fixtureOptions.config) = (plain.text("--fixtures"), plain.text("--config"))
        (fixtureOptions.profile, fixtureOptions.switches) = (plain.texts("--profile"), plain.texts("--switch"))
        guard plain.isEmpty else { return nil }
    }
}
