// Links one library alone (cmake/targets.cmake).
int main() { return 0; }
