import Support

/// The names of the example world, as the fixtures and the vendor's spec have them.
///
/// Every key is invented; the tokens are given as text, so that a fault in minting cannot hide one in reading.
enum Example {
    static let project = "/track/v2/projects/demo-project-1"
}
