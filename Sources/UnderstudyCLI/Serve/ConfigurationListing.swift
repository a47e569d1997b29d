import ArgumentParser
import Understudy

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
