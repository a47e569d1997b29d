import ArgumentParser

/// `understudy contract`
struct ContractCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contract", abstract: "Works on contract cases: requests and their documented answers.",
        subcommands: [ContractRunCommand.self])
}
