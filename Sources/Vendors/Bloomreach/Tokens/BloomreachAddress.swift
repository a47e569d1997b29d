import Emulation
import Wire

/// The target of a request: a project or a stream.
enum BloomreachAddress: Sendable {
    case project(String)
    case stream(String)

    /// Reads path and query. An absent project token or stream id counts as empty.
    ///
    /// The self-check names either in `project_id`, since the vendor's pages show its project form with a stream id;
    /// the accounts decide which one it is.
    init(_ arrival: Arrival<Bloomreach>) {
        let parameters = arrival.parameters
        if !parameters["project"].isEmpty {
            self = .project(parameters["project"])
        } else if !parameters["stream"].isEmpty {
            self = .stream(parameters["stream"])
        } else {
            let request = arrival.request
            let isSelfCheck = arrival.route.access.permission == .selfcheck
            if isSelfCheck, let project = request.queryValue("project_id") {
                self = arrival.vendor.accounts.stream(project) == nil ? .project(project) : .stream(project)
            } else if let stream = request.queryValue("stream_id") {
                self = .stream(stream)
            } else {
                self = isSelfCheck ? .project("") : .stream("")
            }
        }
    }

    /// The token or id as sent.
    var text: String {
        switch self {
        case .project(let text), .stream(let text): text
        }
    }

    var isStream: Bool {
        if case .stream = self { true } else { false }
    }

    /// Whether a text can be a project token or a stream id. Source: observed, both SDKs reject others.
    static func isWellFormed(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
