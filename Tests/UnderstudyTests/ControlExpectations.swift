import Support
import Testing

extension ReceivedAnswer {
    /// The answer is a refusal of the control API with that code, and its message says that.
    func expectProblem(
        _ status: Int, _ code: String, _ message: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(self.status == status, "\(text)", sourceLocation: sourceLocation)
        #expect(json["error"]?["code"]?.string == code, sourceLocation: sourceLocation)
        #expect(
            json["error"]?["message"]?.string?.contains(message) == true, "\(text)", sourceLocation: sourceLocation)
    }
}
