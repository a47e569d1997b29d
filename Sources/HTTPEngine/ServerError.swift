/// Why a server cannot start; the description is one line for the user.
package enum ServerError: Error, Hashable, CustomStringConvertible {
    case portTaken(host: String, port: Int)
    case unknownHost(String)
    case foreignAddress(host: String)
    case invalidPort(Int)
    case notPermitted(host: String, port: Int)
    case noListener
    /// A system call failed for another reason.
    case system(call: String, reason: String)

    package var description: String {
        switch self {
        case .portTaken(let host, let port):
            "port \(port) at \(host) is already in use; choose another port, or 0 for a free one."
        case .unknownHost(let host):
            "\"\(host)\" is not an address of this machine: give one such as 127.0.0.1, ::1 or 0.0.0.0, or a name that resolves."
        case .foreignAddress(let host):
            "\(host) is not an address of this machine: give one that is, or 0.0.0.0 for all of them."
        case .invalidPort(let port):
            "\(port) is not a port (0–65535)."
        case .notPermitted(let host, let port):
            "no permission to listen on port \(port) at \(host): choose a port from 1024 upwards."
        case .noListener:
            "there is no address to listen on: give at least one host and port."
        case .system(let call, let reason):
            "the system refused \(call): \(reason)."
        }
    }

    /// The error of a call that has just set `errno`.
    static func lastFailure(of call: String) -> ServerError {
        .system(call: call, reason: OperatingSystem.errorText(OperatingSystem.lastError))
    }
}
