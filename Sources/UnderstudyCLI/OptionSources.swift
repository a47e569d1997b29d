import Emulation
import Understudy

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The sources of options in order of precedence: flag, environment, configuration file.
struct OptionSources {
    /// The options with a single text or number, by flag name.
    static let names = [
        "host", "port", "public-base", "https-port", "tls-cert", "tls-key", "ca-directory", "port-file", "fixtures",
        "log", "record", "control-token", "control-port", "allow-host", "sandboxes", "sandbox-ttl", "seed", "state",
        "import", "export-on-exit", "state-limit", "drain", "scenario", "watch", "until-stdin-closes",
    ]

    private let environment: [String: String]
    private let file: ConfigurationFile?

    /// Reads the configuration file: the given one, else `UNDERSTUDY_CONFIG`, else `./understudy.yaml` if it exists.
    init(configurationFile: String?) throws {
        // An empty variable counts as unset: CI systems and container files often produce them.
        let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
        let standard = "understudy.yaml"
        let named = configurationFile ?? environment["UNDERSTUDY_CONFIG"]
        let path = named ?? (FileSystem.holds(standard) ? standard : nil)
        self.environment = environment
        file = try path.map { try ConfigurationFile($0) }
    }

    /// The server that commands and clients ask, by the variable that the clients read.
    var serverURL: String? { environment["UNDERSTUDY_URL"] }

    /// Warnings about variables that look like options but are not.
    var unknownVariables: [String] {
        let known = (Self.names + ["config", "profile"]).map(Self.variable)
        // Of the package's build, its clients and its Compose file, often in the same shell.
        let others: Set = [
            "UNDERSTUDY_FOUNDATION_ONLY", "UNDERSTUDY_KQUEUE", "UNDERSTUDY_BINARY", "UNDERSTUDY_URL",
            "UNDERSTUDY_SANDBOX", "UNDERSTUDY_IMAGE",
        ]
        return environment.keys.filter { $0.hasPrefix("UNDERSTUDY_") && !known.contains($0) && !others.contains($0) }
            .sorted().map {
                "\($0) is set in the environment, and no option has that name\(Nearest.hint(to: $0, among: known))"
            }
    }

    /// The values of an option in the environment and the file, in order of precedence, and where each is set.
    func settings(of name: String) -> [(value: String, place: String)] {
        let variable = Self.variable(name)
        let text = name == "switch" ? nil : environment[variable]
        return [text.map { ($0, variable) }, file?.values[name == "switch" ? "switches" : name]].compactMap(\.self)
    }

    func text(_ name: String, flag: String?) throws -> String? {
        if flag?.isEmpty == true { throw Misuse("--\(name) is empty; leave it out, or give a value.") }
        let value = flag ?? environment[Self.variable(name)] ?? file?.values[name]?.value
        if let value, value == "~" || value.hasPrefix("~/") {
            throw Misuse("\(name) \(value) begins with ~, which no shell has replaced here; write the whole path.")
        }
        return value
    }

    /// The control API's token; `@FILE` stands for the one in a file, which containers call a secret.
    func controlToken(flag: String?) throws -> String? {
        guard let text = try text("control-token", flag: flag) else { return nil }
        guard text.hasPrefix("@") else { return text }
        let path = String(text.dropFirst())
        let bytes: [UInt8]
        do { bytes = try Files.content(of: path) } catch {
            throw Misuse("--control-token: \(path) cannot be read: \(error).")
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        try Misuse.require(
            lines.count == 1, "--control-token: found \(lines.count) lines in \(path); expected the token alone.")
        return String(lines[0])
    }

    /// A warning of a token on the command line, which the list of processes shows; otherwise `nil`.
    static func warning(ofControlToken flag: String?) -> String? {
        guard let flag, !flag.hasPrefix("@") else { return nil }
        return "Anyone on this machine can see the control token on the command line; pass it in "
            + "UNDERSTUDY_CONTROL_TOKEN, or as --control-token @FILE."
    }

    /// The texts of a repeatable option. In the environment and the file they are separated by commas.
    func texts(_ name: String, flags: [String]) throws -> [String] {
        guard flags.isEmpty else { return flags }
        let listed = try text(name, flag: nil)?.split(separator: ",") ?? []
        return listed.map { text in String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
    }

    /// An option of another type.
    ///
    /// - Parameter expected: what the value must be, for the error message.
    func value<Value>(
        _ name: String, flag: String?, default standard: Value, expected: String, parse: (String) -> Value?
    ) throws -> Value {
        let (inFile, path, variable) = (file?.values[name]?.value, file?.path ?? "", Self.variable(name))
        guard let text = flag ?? environment[variable] ?? inFile else { return standard }
        if let value = parse(text) { return value }
        if flag != nil { throw Misuse("--\(name) \(text) is not \(expected).") }
        if environment[variable] == nil { throw Misuse("\(path): \(name) \(text) is not \(expected).") }
        let other = inFile.map { "; \(path) says \($0)" } ?? ""
        throw Misuse("\(variable)=\(text) is not \(expected). Set in the environment\(other).")
    }

    func port(_ name: String, flag: String?) throws -> Int? {
        try value(name, flag: flag, default: Int?.none, expected: "a port (0–65535)") {
            Int($0).flatMap { (0...65535).contains($0) ? .some($0) : nil }
        }
    }

    func isSet(_ name: String, flag: Bool) throws -> Bool {
        if flag { return true }
        return try value(name, flag: nil, default: false, expected: "true or false", parse: Bool.init)
    }

    /// Profile and switches from the configuration file and the environment.
    func settings() throws -> Settings {
        var settings = file?.settings ?? Settings()
        if let text = environment["UNDERSTUDY_PROFILE"] {
            let profile = try Misuse.require(
                BehaviourProfile(rawValue: text),
                "UNDERSTUDY_PROFILE=\(text) is not a profile (documented, observed). Set in the environment.")
            settings.setProfile(profile)
        }
        return settings
    }

    private static func variable(_ name: String) -> String {
        "UNDERSTUDY_" + name.uppercased().replacing("-", with: "_")
    }
}

extension Duration {
    /// How long to wait, as `--within` says.
    static func patience(_ text: String, option: String = "--within") throws -> Duration {
        guard let limit = Duration(text: text), limit > .zero else {
            throw Misuse("\(option) \(text) is not a duration such as 500ms or 3s.")
        }
        return limit
    }
}

struct ConfigurationFile {
    let path: String
    /// The values by flag name, and where each is set; those that are no single text or number as JSON.
    let values: [String: (value: String, place: String)]
    let settings: Settings

    init(_ path: String) throws(FixtureProblem) {
        self.path = path
        let document = try FixtureStore.document(alone: path)
        let names = OptionSources.names
        let mapping = try document.mapping(names + ["profile", "switches"])
        var values: [String: (value: String, place: String)] = [:]
        for (name, node) in mapping.members {
            let value = try node.json()
            let text = value.string ?? value.number?.literal ?? value.bool.map(String.init)
            guard let text = names.contains(name) ? text : text ?? value.text else {
                throw node.problem("\(name) must be a text, a number, true or false")
            }
            values[name] = (text, "\(path):\(node.problem("").line ?? 1)")
        }
        self.values = values
        settings = try Self.settings(mapping)
    }

    private static func settings(_ mapping: FixtureMapping) throws(FixtureProblem) -> Settings {
        var settings = Settings()
        if let node = mapping["profile"] {
            if case .object = try node.json() {
                for (vendor, value) in try node.members() {
                    let profile = try value.choice(of: BehaviourProfile.self)
                    try value.locate { () throws(SettingsProblem) in
                        try settings.setProfile(profile, of: vendor, among: Catalog.vendors)
                    }
                }
            } else {
                settings.profile = try node.choice(of: BehaviourProfile.self)
            }
        }
        for (name, value) in try mapping["switches"]?.members() ?? [] {
            let json = try value.json()
            guard let text = json.string ?? json.number?.literal else {
                throw value.problem("a switch is set to a text or a number; write \(json.text) in quotes")
            }
            try value.locate { () throws(SettingsProblem) in
                try settings.set(name, to: text, among: Catalog.vendors)
            }
        }
        return settings
    }
}
