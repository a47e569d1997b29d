package import Contracts
import HTTPTypes

/// A vendor's file of contract cases.
package struct ContractFile: Sendable, CustomStringConvertible {
    /// The vendor's id.
    package let vendor: String
    /// The file's name.
    package let name: String

    /// The path below the fixtures.
    package var description: String { "\(vendor)/contract/\(name)" }

    /// The cases.
    package func read() throws -> HurlFile {
        try HurlFile(name: description, bytes: Repository.fixtures.file(description).bytes)
    }

    /// The files of all mounted vendors.
    package static let all: [ContractFile] = {
        let vendors = (try? Stage.shared().emulator.vendors) ?? []
        return vendors.map(\.identity.id).flatMap { vendor in
            Repository.fixtures.names(in: vendor + "/contract").map { ContractFile(vendor: vendor, name: $0) }
        }
    }()
}
