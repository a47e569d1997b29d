/// Text in the exposition format of Prometheus, version 0.0.4.
struct MetricsText {
    /// The kind of metric that a family contains.
    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    /// The format's media type.
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    /// Begins a family; its samples follow.
    mutating func family(_ name: String, _ kind: Kind, _ about: String) {
        text += "# HELP \(name) \(Self.escaped(about))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    mutating func sample(_ name: String, _ value: some Numeric, _ labels: KeyValuePairs<String, String> = [:]) {
        text += name
        if !labels.isEmpty {
            text += "{"
            text += labels.map { "\($0)=\"\(Self.escaped($1).replacing("\"", with: "\\\""))\"" }.joined(separator: ",")
            text += "}"
        }
        text += " \(value)\n"
    }

    /// Adds a family of one gauge.
    mutating func gauge(
        _ name: String, _ about: String, _ value: some Numeric, _ labels: KeyValuePairs<String, String> = [:]
    ) {
        family(name, .gauge, about)
        sample(name, value, labels)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }
}
