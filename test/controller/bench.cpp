// Drives a controller by lines on standard input, one answer a line: test/support/controller_bench.py.
// Numbers come and go as hexadecimal floating-point, exactly.

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <sstream>

#include "controller_interface/chainable_controller_interface.hpp"

using Controller = controller_interface::ChainableControllerInterface;
using controller_interface::CallbackReturn;

std::unique_ptr<Controller> make_controller();

static unsigned long allocations = 0;

#ifndef SANITIZED
extern "C" {
void * __libc_malloc(std::size_t);
void __libc_free(void *);
void * malloc(std::size_t size) { ++allocations; return __libc_malloc(size); }
void free(void * place) { ++allocations; __libc_free(place); }
}
#endif

namespace
{
using Interfaces = Controller::Interfaces;

class Bench
{
public:
  std::string answer(const std::string & line)
  {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "parameters") return set_parameters(words);
    if (verb == "configure") return configure(static_cast<unsigned>(read(words)));
    if (verb == "activate") return verdict(controller_->on_activate({}));
    if (verb == "deactivate") return verdict(controller_->on_deactivate({}));
    if (verb == "cleanup") return verdict(controller_->on_cleanup({}));
    if (verb == "chain") return controller_->set_chained_mode(read(words) != 0.0), "";
    if (verb == "states") return fill(states_, words);
    if (verb == "references") return fill(references_, words);
    if (verb == "lock") return lock(read(words) != 0.0), "";
    if (verb == "overrule") return controller_->get_node()->is_overruled = read(words) != 0.0, "";
    if (verb == "update") return update(rclcpp::Duration(read(words)));
    if (verb == "commands") return show(commands_);
    if (verb == "names") return names();
    if (verb == "log") return log();
    if (verb == "run") return run(static_cast<unsigned long>(read(words)));
    return "no such verb";
  }

private:
  static double read(std::istream & words)
  {
    std::string word;
    words >> word;
    return std::strtod(word.c_str(), nullptr);
  }

  static std::string verdict(CallbackReturn result)
  {
    return result == CallbackReturn::SUCCESS ? "success" : "failure";
  }

  static rclcpp::ParameterValue read_value(std::istream & words)
  {
    std::string kind, word;
    words >> kind;
    if (kind == "number") return read(words);
    if (kind == "flag") return read(words) != 0.0;
    if (kind == "word") return words >> word, word;
    std::vector<double> numbers(static_cast<std::size_t>(read(words)));
    for (auto & number : numbers) number = read(words);
    return numbers;
  }

  // All of them, or none: before it is configured as of a parameter file, then at once.
  std::string set_parameters(std::istream & words)
  {
    std::vector<rclcpp::Parameter> given;
    std::string name;
    while (words >> name) given.emplace_back(name, read_value(words));
    if (controller_) return controller_->get_node()->set_parameters(given);
    for (const auto & one : given) overrides_[one.get_name()] = one.get_parameter_value();
    return "";
  }

  std::string configure(unsigned rate)
  {
    controller_ = make_controller();
    if (controller_->init("controller", rate, overrides_) != CallbackReturn::SUCCESS)
      return "failure";
    if (controller_->on_configure({}) != CallbackReturn::SUCCESS) return "failure";
    references_ = controller_->export_reference_interfaces();
    commands_ = make(controller_->command_interface_configuration().names);
    states_ = make(controller_->state_interface_configuration().names);
    controller_->assign_interfaces(commands_, states_);
    return "success";
  }

  static Interfaces make(const std::vector<std::string> & names)
  {
    Interfaces made;
    for (const auto & name : names) {
      const auto cut = name.rfind('/');
      made.push_back(std::make_shared<hardware_interface::CommandInterface>(
        name.substr(0, cut), name.substr(cut + 1)));
    }
    return made;
  }

  static std::string fill(const Interfaces & interfaces, std::istream & words)
  {
    for (const auto & one : interfaces) (void)one->set_value(read(words));
    return "";
  }

  void lock(bool is_locked)
  {
    for (const auto * all : {&states_, &references_})
      for (const auto & one : *all) one->is_locked = is_locked;
  }

  static std::string show(const Interfaces & interfaces)
  {
    std::string text;
    char word[40];
    for (const auto & one : interfaces) {
      std::snprintf(word, sizeof word, "%a ", one->get_optional().value());
      text += word;
    }
    return text;
  }

  std::string update(const rclcpp::Duration & period)
  {
    const bool is_ok = controller_->update({}, period) == controller_interface::return_type::OK;
    return (is_ok ? "ok " : "error ") + show(commands_);
  }

  std::string names() const
  {
    std::string text;
    for (const auto * all : {&commands_, &states_, &references_}) {
      for (const auto & one : *all) text += one->get_name() + "\t";
      text += "\f";
    }
    return text;
  }

  std::string log()
  {
    auto & node = *controller_->get_node();
    node.fire_timer();
    std::string text;
    std::swap(text, node.log);
    for (auto & letter : text)
      if (letter == '\n') letter = '\t';
    return text;
  }

  // Updates in a process that the kernel ends at the first system call.
  std::string run(unsigned long count)
  {
    std::cout.flush();
    const auto child = fork();
    if (child == 0) {
      const rclcpp::Duration period(1e-3);
      unsigned long failures = 0;
      const auto before = allocations;
      if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) syscall(SYS_exit, 3);
      for (unsigned long i = 0; i < count; ++i) {
        // A reference that is there, is no number, jumps, and comes back.
        const bool is_odd = i / 1000 % 4 == 3;
        (void)references_[0]->set_value(is_odd ? (i % 2 ? 1e3 : 0.0 / 0.0) : 0.0);
        failures += controller_->update({}, period) != controller_interface::return_type::OK;
      }
      syscall(SYS_exit, failures != 0 ? 1 : allocations != before ? 2 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) return "system call";
    const char * const words[] = {"ok", "failed", "allocated", "no seccomp"};
    return words[WEXITSTATUS(status)];
  }

  std::unique_ptr<Controller> controller_;
  std::map<std::string, rclcpp::ParameterValue> overrides_;
  Interfaces commands_, states_, references_;
};
}  // namespace

int main()
{
  Bench bench;
  std::string line;
  while (std::getline(std::cin, line)) std::cout << bench.answer(line) << std::endl;
}
