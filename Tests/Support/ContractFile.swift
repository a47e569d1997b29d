public import Contracts
import HTTPTypes

/// A vendor's file of contract cases.
public struct ContractFile: Sendable, CustomStringConvertible {
    /// The vendor's id.
    public let vendor: String
    /// The file's name.
    public let name: String

    /// The path below the fixtures.
    public var description: String { "\(vendor)/contract/\(name)" }

    /// The cases.
    public func read() throws -> HurlFile {
        try HurlFile(name: description, bytes: Repository.fixtures.file(description).bytes)
    }

    /// The files of all mounted vendors.
    public static let all: [ContractFile] = {
        let vendors = (try? Stage.shared().emulator.vendors) ?? []
        return vendors.map(\.identity.id).flatMap { vendor in
            Repository.fixtures.names(in: vendor + "/contract").map { ContractFile(vendor: vendor, name: $0) }
        }
    }()
}
